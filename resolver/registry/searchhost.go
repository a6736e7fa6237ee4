package registry

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A search for a target whose text names a host is answered by the index of hosts: it says which versions may have it, and these are read.
// Where nearly all names have it, or the index is not complete, the names are read in their order as for any other text.

// hostQuery is what the text of Search.Target says of a host.
type hostQuery struct {
	host string
	// whole is that a target which has the text has the host. Else it is one only if the host is known: it may be part of a longer one, or of a path.
	whole bool
	below bool // names of hosts below it are meant, too
}

// hostQueryOf returns the query of a text in lower case, if it may name a host.
func hostQueryOf(text string) (q hostQuery, is bool) {
	hostsOf(text, func(host string, ended bool) {
		if !q.whole && host[len(host)-1] != '.' {
			q, is = hostQuery{host: host, whole: ended}, true
		}
	})
	if is || !strings.Contains(text, ".") || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" ||
		strings.Trim(text, ".-") != text {
		return q, is
	}
	return hostQuery{host: text, below: true}, true
}

// fits reports whether an entry has a target with the host.
func (q *hostQuery) fits(e *Entry, text string) bool {
	for i := range e.Targets {
		is := false
		lower := strings.ToLower(e.Targets[i].URI)
		hostsOf(lower, func(host string, _ bool) {
			is = is || host == q.host || q.below && strings.HasSuffix(host, "."+q.host)
		})
		if is && (q.below || strings.Contains(lower, text)) {
			return true
		}
	}
	return false
}

// hostHits are the rows that may have a host.
type hostHits struct {
	spans []span
	rows  int64
	all   Seq  // how many rows there are
	next  Seq  // the first row of the next block
	many  bool // there are more spans than are kept
}

// Bounds of what is found by the index.
const (
	maxHostSpans = 500_000 // of rows, in memory
	hostNames    = 100_000 // names, in memory
	hostTail     = 1000    // rows that may be missing in the index, and are read
	hostKeys     = 10_000  // rows that are read at once
	hostTries    = 2 * searchPage
	// hostDense is which part of all rows is so many that their names are found soon in their order.
	hostDense = 50
	// hostPages is how many pages of names are then read before the index is asked.
	hostPages = 20
	// hostSoon is of how many rows the names are looked up in a millisecond: where a search has not the time for all, some are found sooner in
	// the order of all names.
	hostSoon = 100
)

// hits finds the rows that may have a host; known is false where the index is not complete.
func (r *Registry) hits(ctx context.Context, host string) (found hostHits, known bool, err error) {
	m := markOf(host)
	err = r.config.Store.Read(ctx, func(tx Tx) error {
		found = hostHits{next: 1}
		next, all, err := openHostsEnd(tx)
		if err != nil {
			return err
		}
		if !all {
			tail, err := tx.Changes(next-1, hostTail+1)
			if err != nil || len(tail) > hostTail || len(tail) == 0 {
				return err
			}
			defer func() { found.add(next, int64(tail[len(tail)-1].Seq-next+1)) }()
		}
		known, found.all = true, next
		for after := ""; ; {
			page, err := tx.Documents(TableHosts, "", after, searchPage)
			if err != nil {
				return err
			}
			for _, d := range page {
				after = d.Key
				if err := found.scan(d, m); err != nil {
					return err
				}
			}
			if len(page) < searchPage {
				return nil
			}
		}
	})
	return found, known, err
}

// scan adds the rows of the next block that have a mark. It looks at all runs of all blocks, so that it makes none of them a value.
func (h *hostHits) scan(d Document, m mark) error {
	rest := d.Value
	if d.Key == openKey {
		_, n := binary.Uvarint(rest) // its first row is that after the last block
		rest = rest[max(n, 0):]
	}
	for len(rest) > 0 {
		r, after, ok := cutRun(rest)
		if !ok {
			return fmt.Errorf("%w: the index of hosts, at %q, cannot be read", ErrDamaged, d.Key)
		}
		if r.has(m) {
			h.add(h.next, r.n)
		}
		h.next += Seq(r.n)
		rest = after
	}
	return nil
}

func (h *hostHits) add(first Seq, n int64) {
	h.rows += n
	last := first + Seq(n) - 1
	switch i := len(h.spans) - 1; {
	case i >= 0 && h.spans[i].last+1 == first:
		h.spans[i].last = last
	case len(h.spans) == maxHostSpans:
		h.many = true
	default:
		h.spans = append(h.spans, span{first, last})
	}
}

// each calls f with the rows, some at a time, until it returns false.
func (h *hostHits) each(f func(seqs []Seq) (bool, error)) error {
	seqs := make([]Seq, 0, hostKeys)
	for _, s := range h.spans {
		for seq := s.first; seq <= s.last; seq++ {
			if seqs = append(seqs, seq); len(seqs) < hostKeys {
				continue
			}
			if more, err := f(seqs); err != nil || !more {
				return err
			}
			seqs = seqs[:0]
		}
	}
	if len(seqs) == 0 {
		return nil
	}
	_, err := f(seqs)
	return err
}

// byHost prepares a search whose text names a host: where the text may also be another one, it is a host if a target has it. is is whether
// what the index has found is to be used.
func (r *Registry) byHost(ctx context.Context, s *Search) (found hostHits, is bool, err error) {
	if s.Kind != KindName || s.AliasOf != "" || !s.At.IsZero() || s.Target == "" {
		return found, false, nil
	}
	q, names := hostQueryOf(s.Target)
	if !names {
		return found, false, nil
	}
	found, known, err := r.hits(ctx, q.host)
	if err != nil || !known {
		return found, false, err
	}
	if !q.whole {
		is, err := r.isHost(ctx, &q, s.Target, &found)
		if err != nil || !is {
			return found, false, err
		}
		s.host = &q
	}
	all := found.many || s.Limit == 0 && found.rows*hostDense > int64(found.all) || s.Within > 0 && found.rows > int64(s.Within/time.Millisecond)*hostSoon
	return found, !all, nil
}

// isHost reports whether some target has a host, by the first that may have it.
func (r *Registry) isHost(ctx context.Context, q *hostQuery, text string, found *hostHits) (is bool, err error) {
	tried := 0
	err = found.each(func(seqs []Seq) (bool, error) {
		for len(seqs) > 0 && !is && tried < hostTries {
			part := seqs[:min(len(seqs), searchPage)]
			seqs = seqs[len(part):]
			tried += len(part)
			err := r.config.Store.Read(ctx, func(tx Tx) error {
				keys, err := tx.Keys(part)
				if err != nil {
					return err
				}
				entries, err := tx.Entries(keys)
				is = slices.ContainsFunc(entries, func(e Entry) bool { return q.fits(&e, text) })
				return err
			})
			if err != nil {
				return false, err
			}
		}
		return !is && tried < hostTries, nil
	})
	return is, err
}

// namesAt returns the first names after a name, in their order, of rows that were found, and whether there are more.
func (r *Registry) namesAt(ctx context.Context, s *Search, found *hostHits, after string) (names []string, more bool, err error) {
	least := func() {
		slices.Sort(names)
		if names = slices.Compact(names); len(names) > hostNames {
			names, more = names[:hostNames], true
		}
	}
	err = found.each(func(seqs []Seq) (bool, error) {
		err := r.config.Store.Read(ctx, func(tx Tx) error {
			keys, err := tx.Keys(seqs)
			for _, key := range keys {
				if key.Kind == KindName && key.Name > after && strings.HasPrefix(key.Name, s.Below) {
					names = append(names, key.Name)
				}
			}
			return err
		})
		if len(names) > 2*hostNames {
			least()
		}
		return true, err
	})
	least()
	return names, more, err
}
