package bulk

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// ExportOptions are how names are exported. The zero value exports the current entries as NDJSON.
type ExportOptions struct {
	Format Format // Detect is NDJSON
	// History exports all versions, the oldest first, and their numbers; of CSV, TSV and NDJSON.
	History bool
	// At is the time at which the names were as they are exported; the zero value is now. Of what was purged since nothing is there.
	At time.Time
	// Prefix is what the names begin with that are exported; "" is all. A zone needs one.
	Prefix string
	// Zone is the name of the zone, of NAPTRZone.
	Zone string
	// Skipped is called with what the format cannot express; nil is not called.
	Skipped func(name string, reason error)
	// Progress is called from time to time with how many entries were exported; nil is not called.
	Progress func(entries int64)
}

// progressEvery is after how many entries the progress is reported.
const progressEvery = 1000

// exporter writes entries in one format.
type exporter interface {
	// begin writes what is first. It may look at all entries.
	begin(w *bufio.Writer, all *entries) error
	// entry writes a version. The prefixes come first.
	entry(w *bufio.Writer, e *registry.Entry) error
	end(w *bufio.Writer) error
}

// ErrUnexportable is wrapped by the reasons why entries were skipped.
var ErrUnexportable = errors.New("it cannot be exported in this format")

// Export writes the entries of a registry, as they are at one moment: prefixes first, each in the
// order of the bytes of their names. The same entries make the same bytes. Aliases that are only another spelling of their name are not
// among them: who imports the name has them.
func Export(ctx context.Context, w io.Writer, r *registry.Registry, o ExportOptions) error {
	if o.Skipped == nil {
		o.Skipped = func(string, error) {}
	}
	if o.Progress == nil {
		o.Progress = func(int64) {}
	}
	out, err := newExporter(o)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(w, 256<<10)
	err = r.Store().Read(ctx, func(tx registry.Tx) error {
		all := &entries{ctx: ctx, tx: tx, prefix: o.Prefix, at: o.At, registry: r}
		if err := out.begin(b, all); err != nil {
			return err
		}
		var n int64
		err := all.each(func(e *registry.Entry) error { //nolint:contextcheck // it has the context
			if n++; n%progressEvery == 0 {
				o.Progress(n)
			}
			if !o.History {
				return out.entry(b, e)
			}
			versions, err := all.versions(e)
			for i := len(versions) - 1; i >= 0 && err == nil; i-- {
				err = out.entry(b, &versions[i])
			}
			return err
		})
		if err != nil {
			return err
		}
		return out.end(b)
	})
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("exporting the registry: %w", err)
	}
	return nil
}

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

func newExporter(o ExportOptions) (exporter, error) {
	if o.History && (o.Format == NginxMap || o.Format == NAPTRZone) {
		return nil, fmt.Errorf("%s has no history", o.Format)
	}
	if o.Zone != "" && o.Format != NAPTRZone {
		return nil, errors.New("--zone is for naptr-zone")
	}
	switch o.Format {
	case Detect, NDJSON:
		return &ndjsonExport{history: o.History}, nil
	case CSV:
		return &tableExport{separator: ',', history: o.History}, nil
	case TSV:
		return &tableExport{separator: '\t', history: o.History}, nil
	case NginxMap:
		return &nginxExport{skipped: o.Skipped}, nil
	case NAPTRZone:
		if o.Prefix == "" || strings.Trim(o.Zone, ".") == "" {
			return nil, errors.New("a zone needs a prefix, which its names begin with (--prefix), and a name (--zone)")
		}
		return &zoneExport{base: o.Prefix, origin: o.Zone, skipped: o.Skipped}, nil
	default:
		return nil, fmt.Errorf("%s is not a format of exports", o.Format)
	}
}

// entriesPage is how many entries are read at once, while as many are written.
const entriesPage = 500

// entries are the current entries that are exported.
type entries struct {
	ctx    context.Context //nolint:containedctx // it lives as long as one call
	prefix string
	at     time.Time // when they are as they are exported; the zero value is now
	// registry knows which aliases are only another spelling; nil knows none.
	registry *registry.Registry

	mu sync.Mutex // one goroutine at a time uses tx
	tx registry.Tx
}

// read calls f with the transaction.
func (s *entries) read(f func(registry.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s.tx)
}

// each calls f with each entry.
func (s *entries) each(f func(e *registry.Entry) error) error {
	for _, kind := range []registry.Kind{registry.KindPrefix, registry.KindName} {
		if err := s.of(kind, f); err != nil {
			return err
		}
	}
	return nil
}

// page is a page of entries, or why it could not be read.
type page struct {
	entries []registry.Entry
	err     error
}

// of calls f with each entry of a kind, while the next page is read.
func (s *entries) of(kind registry.Kind, f func(e *registry.Entry) error) error {
	ctx, cancel := context.WithCancel(s.ctx)
	pages := make(chan page)
	var reader sync.WaitGroup
	defer reader.Wait()
	defer cancel()
	reader.Go(func() {
		defer close(pages)
		s.pages(kind, func(p page) bool {
			select {
			case pages <- p:
				return true
			case <-ctx.Done():
				return false
			}
		})
	})
	for p := range pages {
		if p.err != nil {
			return p.err
		}
		for i := range p.entries {
			if e := &p.entries[i]; e.Exists() && !s.isSpelling(e) { // else it is not there yet, or a spelling alone
				if err := f(e); err != nil {
					return err
				}
			}
		}
	}
	return s.ctx.Err()
}

// pages calls next with each page of a kind, as long as it returns true.
func (s *entries) pages(kind registry.Kind, next func(page) bool) {
	for after, last := "", false; !last; {
		var p page
		p.err = s.read(func(tx registry.Tx) (err error) {
			if p.entries, err = tx.List(kind, s.prefix, after, entriesPage); err != nil {
				return err
			}
			if last = len(p.entries) < entriesPage; !last {
				after = p.entries[entriesPage-1].Name
			}
			if !s.at.IsZero() {
				p.entries, err = registry.EntriesAt(tx, p.entries, s.at)
			}
			return err
		})
		if !next(p) || p.err != nil {
			return
		}
	}
}

// isSpelling reports whether an entry is an alias of its own canonical name: one whose namespace got other rules of comparison since, such as a
// fold. It could not be imported, and is the same name then.
func (s *entries) isSpelling(e *registry.Entry) bool {
	if e.Alias == "" || s.registry == nil {
		return false
	}
	key, err := s.registry.CanonicalKey(e.Key)
	return err == nil && key.Name == e.Alias
}

// versions returns all versions of an entry, the newest first.
func (s *entries) versions(e *registry.Entry) (all []registry.Entry, err error) {
	if e.Version == 1 {
		return []registry.Entry{*e}, nil
	}
	before := registry.Seq(0)
	if !s.at.IsZero() {
		before = e.Seq + 1
	}
	err = s.read(func(tx registry.Tx) error {
		return eachVersion(tx, e.Key, before, func(e registry.Entry) bool {
			all = append(all, e)
			return true
		})
	})
	return all, err
}

// versionsPage is how many versions are read at once.
const versionsPage = 100

// eachVersion calls f with the versions of a name before one, the newest first, until it returns false; 0 is before all.
func eachVersion(tx registry.Tx, key registry.Key, before registry.Seq, f func(registry.Entry) bool) error {
	for {
		page, err := tx.Versions(key, before, versionsPage)
		if err != nil {
			return err
		}
		for _, e := range page {
			if !f(e) {
				return nil
			}
			before = e.Seq
		}
		if len(page) < versionsPage {
			return nil
		}
	}
}
