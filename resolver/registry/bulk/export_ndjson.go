package bulk

import (
	"bufio"
	"fmt"
	"strconv"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// ndjsonExport writes a JSON object a line, with the members of the documents of the API.
type ndjsonExport struct {
	history bool
	line    []byte
}

func (x *ndjsonExport) begin(*bufio.Writer, *entries) error { return nil }

func (x *ndjsonExport) entry(w *bufio.Writer, e *registry.Entry) (err error) {
	b := field.AppendString(append(x.line[:0], `{"name":`...), e.Name)
	if e.Kind == registry.KindPrefix {
		b = append(b, `,"prefix":true`...)
	}
	if e.Version > 0 {
		name := columnNames[fieldIfVersion]
		if x.history {
			name = columnNames[fieldVersion]
		}
		b = strconv.AppendInt(append(b, `,"`+name+`":`...), int64(e.Version), 10)
	}
	b, err = field.OfRecord().AppendMembers(append(b, ','), &e.Record, field.Targets)
	if err == nil && !e.Changed.IsZero() {
		b = append(b, `,"changed":`...)
		var changed []byte
		changed, err = e.Changed.MarshalJSON()
		b = append(b, changed...)
	}
	for _, t := range [...][2]string{{`,"by":`, e.By}, {`,"note":`, e.Note}} {
		if t[1] != "" {
			b = field.AppendString(append(b, t[0]...), t[1])
		}
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", e.Key, err)
	}
	x.line = append(b, "}\n"...)
	_, err = w.Write(x.line)
	return err
}

func (x *ndjsonExport) end(*bufio.Writer) error { return nil }
