package bulk

import (
	"io"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk/webserver"
)

// webItems gives what a configuration of a web server makes.
type webItems struct{ left []webserver.Item }

func (w *webItems) next() (*item, error) {
	if len(w.left) == 0 {
		return nil, io.EOF
	}
	from := w.left[0]
	w.left = w.left[1:]
	i := newItem(from.Line, from.Input)
	if i.fault = from.Err; i.fault != nil {
		return i, nil //nolint:nilerr // the item has it
	}
	i.entry = from.Entry
	if i.entry.Status != registry.Active {
		i.said.add(fieldStatus)
		i.said.add(fieldReason)
	}
	if i.entry.Note != "" {
		i.said.add(fieldNote)
	}
	if i.entry.Pattern != "" {
		i.said.add(fieldPattern)
	}
	if i.entry.Redirect != 0 {
		i.said.add(fieldRedirect)
	}
	i.more, i.entry.Targets = i.entry.Targets, nil
	if len(i.more) > 0 || i.entry.Status == registry.Active {
		i.said.add(fieldTargets)
	}
	for _, loss := range from.Losses {
		i.lose("%s", loss)
	}
	return i, nil
}

// newWebItems reads a configuration of a web server.
func newWebItems(read func(io.Reader, string) ([]webserver.Item, error), r io.Reader, base string) (foreign, error) {
	items, err := read(r, base)
	return &webItems{items}, err
}

// gone is the reason of names that their server answers by 410.
const gone = webserver.Gone
