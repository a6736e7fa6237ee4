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

// ExportOptions are the options of Export. The zero value exports the current entries as NDJSON.
type ExportOptions struct {
	Format Format // Detect means NDJSON
	// History exports all versions with their numbers, the oldest first. Only CSV, TSV and NDJSON support it.
	History bool
	// At exports the entries as of a time; the zero value is now. Names that were purged since are missing.
	At time.Time
	// Prefix limits the export to names with this prefix; "" exports all. NAPTRZone requires it.
	Prefix string
	// Zone is the DNS name of the zone; of NAPTRZone only.
	Zone string
	// Skipped is called for each name that the format cannot express; it may be nil.
	Skipped func(name string, reason error)
	// Progress is called periodically with the number of exported entries; it may be nil.
	Progress func(entries int64)
}

// progressEvery is the number of entries between two calls of Progress.
const progressEvery = 1000

// exporter writes entries in one format.
type exporter interface {
	// begin writes the head of the output. It may read all entries.
	begin(w *bufio.Writer, all *entries) error
	// entry writes one version. Prefixes come before names.
	entry(w *bufio.Writer, e *registry.Entry) error
	end(w *bufio.Writer) error
}

// ErrUnexportable is wrapped by the reasons why entries were skipped.
var ErrUnexportable = errors.New("not supported by the export format")

// Export writes the entries of a registry from one snapshot: prefixes first, then names, each in byte order.
// Equal entries give equal bytes. An alias that is only another spelling of its own canonical name is
// skipped: the import of that name implies it.
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
		err := all.each(func(e *registry.Entry) error { //nolint:contextcheck // s has the context
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

// ExportSearch exports the entries that a search finds, as NDJSON, CSV or TSV. Unlike Export it uses no snapshot:
// each page shows the registry at the time it is read. So a slow client does not keep a read transaction
// open, which would delay the store's cleanup.
func ExportSearch(ctx context.Context, w io.Writer, from *registry.Registry, s registry.Search, format Format) error {
	if format != NDJSON && format != CSV && format != TSV {
		return fmt.Errorf("%s can only be exported as a whole, without a filter", format)
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
		return nil, fmt.Errorf("%s does not support history", o.Format)
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
			return nil, errors.New("a zone requires a prefix of its names (--prefix) and a zone name (--zone)")
		}
		return &zoneExport{base: o.Prefix, origin: o.Zone, skipped: o.Skipped}, nil
	default:
		return nil, fmt.Errorf("%s is not an export format", o.Format)
	}
}

// entriesPage is the number of entries in a page. The next page is read while one is written.
const entriesPage = 500

// entries reads the entries of an export.
type entries struct {
	ctx    context.Context //nolint:containedctx // it lives as long as one call
	prefix string
	at     time.Time // export as of this time; the zero value is now
	// registry finds aliases that are only another spelling; nil finds none.
	registry *registry.Registry

	mu sync.Mutex // guards tx
	tx registry.Tx
}

// read calls f with the transaction, one call at a time.
func (s *entries) read(f func(registry.Tx) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return f(s.tx)
}

// each calls f with each entry, prefixes first.
func (s *entries) each(f func(e *registry.Entry) error) error {
	for _, kind := range []registry.Kind{registry.KindPrefix, registry.KindName} {
		if err := s.of(kind, f); err != nil {
			return err
		}
	}
	return nil
}

// page is a page of entries, or the error of reading it.
type page struct {
	entries []registry.Entry
	err     error
}

// of calls f with each entry of a kind. A goroutine reads the next page meanwhile.
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
			// Skip entries created after the time of the export, and spellings.
			if e := &p.entries[i]; e.Exists() && !s.isSpelling(e) {
				if err := f(e); err != nil {
					return err
				}
			}
		}
	}
	return s.ctx.Err()
}

// pages calls next with each page of a kind until next returns false.
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

// isSpelling reports whether an entry is an alias of its own canonical name. This happens when the namespace
// got other comparison rules later, such as a fold. Such an alias cannot be imported, and is equivalent to
// its name anyway.
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

// versionsPage is the number of versions that are read in one batch.
const versionsPage = 100

// eachVersion calls f with the versions of a name before the given one, the newest first, until f returns
// false; before 0 starts at the current version.
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
