package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// run sends pending tags until ctx ends.
func (s *Sender) run(ctx context.Context) {
	wait := firstBackoff
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		}
		next := batchDelay
		for s.Pending() > 0 {
			select {
			case <-s.config.After(next):
			case <-ctx.Done():
				return
			}
			s.gather()
			err := s.sendDue(ctx)
			switch {
			case err == nil:
				next, wait = batchDelay, firstBackoff
			case ctx.Err() != nil:
				return
			default:
				next, wait = wait, min(2*wait, maxBackoff)
			}
		}
	}
}

// sendDue sends the due tags until a call fails.
func (s *Sender) sendDue(ctx context.Context) error {
	for tags := s.take(); len(tags) > 0; tags = s.take() {
		err := s.call(ctx, tags)
		if err != nil {
			s.putBack(tags)
		}
		if err == nil || ctx.Err() == nil {
			s.state(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// putBack adds tags again after a failed call.
func (s *Sender) putBack(tags []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tag := range tags {
		s.add(tag)
	}
}

// state records whether calls succeed.
func (s *Sender) state(err error) {
	s.mu.Lock()
	changed := (err == nil) != (s.failure == nil)
	s.failure = err
	s.mu.Unlock()
	if changed {
		s.config.Report(err)
	}
}

// document is the JSON body of a call.
type document struct {
	Tags []string `json:"tags"`
}

// call sends tags and reports the outcome.
func (s *Sender) call(ctx context.Context, tags []string) error {
	err := s.post(ctx, tags)
	if ctx.Err() == nil || err == nil {
		s.config.Called(err)
	}
	return err
}

func (s *Sender) post(ctx context.Context, tags []string) error {
	ctx, end := context.WithTimeout(ctx, timeout)
	defer end()
	text, err := json.Marshal(document{tags})
	if err != nil {
		return fmt.Errorf("encoding tags: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.config.URL, bytes.NewReader(text))
	if err != nil {
		return errors.New("invalid URL") // the URL may contain a secret
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "urnd")
	if s.config.Field != "" {
		r.Header.Set(s.config.Field, strings.Join(tags, s.config.Separator))
	}
	if s.config.Secret != nil {
		secret, err := s.config.Secret()
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	response, err := s.transport.RoundTrip(r)
	if err != nil { // does not contain the URL
		return fmt.Errorf("calling %s: %w", r.URL.Host, err)
	}
	defer response.Body.Close()
	const enough = 64 << 10 // to reuse the connection
	_, _ = io.CopyN(io.Discard, response.Body, enough)
	if response.StatusCode < http.StatusOK || response.StatusCode >= http.StatusMultipleChoices {
		return &StatusError{Host: r.URL.Host, Status: response.StatusCode}
	}
	return nil
}

// StatusError is the error for a response with a status other than 2xx.
type StatusError struct {
	Host   string
	Status int
}

func (e *StatusError) Error() string { return fmt.Sprintf("%s: status %d", e.Host, e.Status) }
