package testserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

// devtoolsMessage is a message of the Chrome DevTools Protocol: a request, a response or an event.
type devtoolsMessage struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

// devtoolsError is an error returned by the browser.
type devtoolsError string

func (e devtoolsError) Error() string { return string(e) }

// maxTries limits the retries for a page that is being replaced.
const maxTries = 10

// session is a session with a page, or with the browser. Its methods except add must not be called
// concurrently.
type session struct {
	process *chromiumProcess
	id      string
	late    time.Time                   // deadline of the current call
	note    func(devtoolsMessage) error // receives events; nil ignores them

	mu       sync.Mutex
	messages []devtoolsMessage // not received yet
	added    chan struct{}     // has a value if messages were added
}

// add stores a message until it is received.
func (s *session) add(m devtoolsMessage) {
	s.mu.Lock()
	s.messages = append(s.messages, m)
	s.mu.Unlock()
	select {
	case s.added <- struct{}{}:
	default:
	}
}

// ask calls a method and sets result to its response.
func (s *session) ask(method string, params, result any) error {
	id, err := s.send(method, params)
	for err == nil {
		var m devtoolsMessage
		if m, err = s.receive(); err != nil || m.ID != id {
			continue
		}
		if m.Error != nil {
			err = devtoolsError(m.Error)
		} else if result != nil {
			err = json.Unmarshal(m.Result, result)
		}
		break
	}
	return err
}

func (s *session) send(method string, params any) (id int, err error) {
	s.late = time.Now().Add(2 * Timeout)
	m := devtoolsMessage{Method: method, SessionID: s.id}
	if params != nil {
		if m.Params, err = json.Marshal(params); err != nil {
			return 0, err
		}
	}
	return s.process.write(m)
}

// errSilence is the error for a browser that has ended or does not respond in time.
var errSilence = errors.New("the browser says nothing")

// receive returns the next message. Events are passed to note.
func (s *session) receive() (devtoolsMessage, error) {
	late := time.NewTimer(time.Until(s.late))
	defer late.Stop()
	for {
		s.mu.Lock()
		if len(s.messages) > 0 {
			m := s.messages[0]
			s.messages = s.messages[1:]
			s.mu.Unlock()
			if m.Method == "" || s.note == nil {
				return m, nil
			}
			return m, s.note(m)
		}
		s.mu.Unlock()
		select {
		case <-s.added:
		case <-s.process.ended:
			return devtoolsMessage{}, fmt.Errorf("reading: %w: it has ended", errSilence)
		case <-late.C:
			return devtoolsMessage{}, fmt.Errorf("reading: %w", errSilence)
		}
	}
}
