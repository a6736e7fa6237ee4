package bulk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urnd/urnd/resolver/registry"
)

// Stream exports the entries that a search finds, as NDJSON, CSV or TSV. Unlike Export it reads each page as it is then, so that who
// takes an hour to receive it does not keep the store from tidying up.
func Stream(ctx context.Context, w io.Writer, from *registry.Registry, s registry.Search, format Format) error {
	if format != NDJSON && format != CSV && format != TSV {
		return fmt.Errorf("%s has to be exported as a whole", format)
	}
	out, err := newExporter(ExportOptions{Format: format})
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 64<<10)
	if err = out.begin(b, nil); err == nil {
		_, err = from.Search(ctx, s, func(e registry.Entry) error { return out.entry(b, &e) })
	}
	if err == nil {
		err = errors.Join(out.end(b), b.Flush())
	}
	if err != nil {
		return fmt.Errorf("exporting names: %w", err)
	}
	return nil
}
