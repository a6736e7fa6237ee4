package message

import "github.com/urnd/urnd/internal/httpmessage"

// Scratch is memory for one reply after another, so that a common one needs none of its own. What is made in it is valid until Reset.
// The zero value is ready.
type Scratch struct {
	Text   httpmessage.Text   // for values of fields
	Body   []byte             // empty: for a body that is appended
	Fields httpmessage.Fields // likewise for Reply.Fields
	Head   httpmessage.Fields // likewise for the fields of the head
}

// Bounds of the memory that stays with a Scratch.
const (
	maxBody   = 16 << 10
	maxFields = 64
)

// fewFields are as many as a common reply has of its own.
const fewFields = 8

// EmptyFields returns Fields, with memory for those of a common reply.
func (s *Scratch) EmptyFields() httpmessage.Fields {
	if cap(s.Fields) == 0 {
		s.Fields = make(httpmessage.Fields, 0, fewFields)
	}
	return s.Fields
}

// Reset forgets what was made.
func (s *Scratch) Reset() {
	s.Text.Reset()
	if s.Body = s.Body[:0]; cap(s.Body) > maxBody {
		s.Body = nil
	}
	s.Fields, s.Head = reset(s.Fields), reset(s.Head)
}

func reset(fields httpmessage.Fields) httpmessage.Fields {
	if cap(fields) > maxFields {
		return nil
	}
	clear(fields[:cap(fields)]) // they would hold the memory of their texts
	return fields[:0]
}
