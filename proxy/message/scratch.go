package message

import "github.com/urnd/urnd/internal/httpmessage"

// Scratch holds reusable buffers for a sequence of replies, so that a common reply does not allocate. Values
// built in it are valid until Reset. The zero value is ready to use. It is not safe for concurrent use.
type Scratch struct {
	Text   httpmessage.ValueBuffer // for field values
	Body   []byte                  // empty, to append a body to
	Fields httpmessage.Fields      // empty, for Reply.Fields
	Head   httpmessage.Fields      // empty, for the header section
}

// The maximum sizes of buffers that a Scratch keeps.
const (
	maxBody   = 16 << 10
	maxFields = 64
)

// fewFields is the number of additional fields of a common reply.
const fewFields = 8

// EmptyFields returns empty Fields with capacity for those of a common reply.
func (s *Scratch) EmptyFields() httpmessage.Fields {
	if cap(s.Fields) == 0 {
		s.Fields = make(httpmessage.Fields, 0, fewFields)
	}
	return s.Fields
}

// Reset invalidates all values built so far.
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
	clear(fields[:cap(fields)]) // they would keep their strings in memory
	return fields[:0]
}
