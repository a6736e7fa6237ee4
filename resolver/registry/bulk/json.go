package bulk

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Numbers of the members of an object.
const (
	usualMembers = 16
	maxMembers   = 200
)

var errNotJSON = errors.New("it is not a JSON object")

// members calls f with the name and the value, as JSON, of each member of an object.
func members(object string, f func(name, value string) error) error {
	if !json.Valid([]byte(object)) {
		return errNotJSON
	}
	s := scanner{object}
	s.space()
	if s.rest[0] != '{' {
		return errNotJSON
	}
	seen := make([]string, 0, usualMembers)
	return s.inside(func() error {
		name, err := text(s.value())
		if err != nil {
			return err
		}
		switch {
		case slices.Contains(seen, name):
			return fmt.Errorf("it has the member %q twice", name)
		case len(seen) == maxMembers:
			return fmt.Errorf("it has more than %d members", maxMembers)
		}
		seen = append(seen, name)
		s.space()
		s.rest = s.rest[1:] // the colon
		s.space()
		return f(name, s.value())
	})
}

// elements calls f with the value, as JSON, of each element of a valid array.
func elements(array string, f func(value string) error) error {
	s := scanner{array}
	return s.inside(func() error { return f(s.value()) })
}

// scanner divides JSON that is valid.
type scanner struct{ rest string }

func (s *scanner) space() { s.rest = strings.TrimLeft(s.rest, " \t\r\n") }

// inside calls f at each part of the array or object that begins.
func (s *scanner) inside(f func() error) error {
	s.rest = s.rest[1:]
	for {
		s.space()
		switch s.rest[0] {
		case ']', '}':
			return nil
		case ',':
			s.rest = s.rest[1:]
			continue
		}
		if err := f(); err != nil {
			return err
		}
	}
}

// value takes the value that begins.
func (s *scanner) value() string {
	depth, i := 0, 0
	for {
		switch s.rest[i] {
		case '"':
			i = afterString(s.rest, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			i++
		}
		if depth > 0 {
			continue
		}
		c := s.rest[0]
		scalar := c != '"' && c != '{' && c != '['
		if !scalar || i == len(s.rest) || strings.IndexByte(",]} \t\r\n", s.rest[i]) >= 0 {
			value := s.rest[:i]
			s.rest = s.rest[i:]
			return value
		}
	}
}

// afterString returns where the string that begins at i has ended.
func afterString(text string, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// text returns the text of a JSON value other than an array or object; of null it is "".
func text(value string) (string, error) {
	switch {
	case value == "null":
		return "", nil
	case value[0] == '{' || value[0] == '[':
		return "", fmt.Errorf("%.40s is to be a text", value)
	case value[0] != '"':
		return value, nil
	case strings.IndexByte(value, '\\') < 0:
		return value[1 : len(value)-1], nil
	}
	var s string
	if err := json.Unmarshal([]byte(value), &s); err != nil {
		return "", fmt.Errorf("%.40s cannot be read: %w", value, err)
	}
	return s, nil
}
