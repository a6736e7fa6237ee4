package testserver

import (
	"encoding/json"
	"fmt"
	"testing"
)

// devtoolsMessage is a message of the Chrome DevTools Protocol: a request, a reply or an event.
type devtoolsMessage struct {
	ID        int             `json:"id,omitempty"`
	Method    string          `json:"method,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     json.RawMessage `json:"error,omitempty"`
}

// devtoolsError is the error that a browser replies.
type devtoolsError string

func (e devtoolsError) Error() string { return string(e) }

// maxTries bounds how often a page is asked that goes on to another one.
const maxTries = 10

// call asks for something, and sets result to the reply.
func (c *Chromium) call(t testing.TB, method string, params, result any) {
	t.Helper()
	if err := c.ask(method, params, result); err != nil {
		t.Fatalf("chromium: %s: %v", method, err)
	}
}

// ask asks for something, and sets result to the reply.
func (c *Chromium) ask(method string, params, result any) error {
	id, err := c.send(method, params)
	for err == nil {
		var m devtoolsMessage
		if m, err = c.receive(); err != nil || m.ID != id {
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

func (c *Chromium) send(method string, params any) (id int, err error) {
	c.last++
	c.silence.Reset(2 * Patience)
	m := devtoolsMessage{ID: c.last, Method: method, SessionID: c.session}
	if params != nil {
		if m.Params, err = json.Marshal(params); err != nil {
			return 0, err
		}
	}
	text, err := json.Marshal(m)
	if err != nil {
		return 0, err
	}
	_, err = c.in.Write(append(text, 0))
	return c.last, err
}

// receive returns the next message: each ends with an octet 0. What an event says of the page is noted.
func (c *Chromium) receive() (devtoolsMessage, error) {
	text, err := c.out.ReadBytes(0)
	if err != nil {
		return devtoolsMessage{}, fmt.Errorf("reading: %w", err)
	}
	var m devtoolsMessage
	if err = json.Unmarshal(text[:len(text)-1], &m); err == nil && m.Method != "" {
		err = c.note(m)
	}
	return m, err
}
