package editor

import (
	"errors"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// refusal is an error that pages say by a message, in the language of the reader.
type refusal struct {
	class  error // of which it is, for its status
	id     string
	values []any
}

// refuse returns what is wrong with what was sent, by the identifier of a message and its values.
func refuse(id string, values ...any) error { return &refusal{registry.ErrInvalid, id, values} }

// Error implements error, for logs.
func (r *refusal) Error() string { return r.class.Error() + ": " + r.id }

// Unwrap returns the class.
func (r *refusal) Unwrap() error { return r.class }

// saidOf returns an error in words: by its message, or else its text, without that of the class that it is of.
func saidOf(p *Request, err error) string {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return p.Panel.In.Text(r.id, r.values...)
	}
	said := err.Error()
	for _, class := range []error{registry.ErrInvalid, registry.ErrUnknown} {
		if errors.Is(err, class) {
			said = strings.TrimPrefix(said, class.Error()+": ")
		}
	}
	r := []rune(said)
	return strings.ToUpper(string(r[0])) + string(r[1:]) + "."
}
