package store

import (
	"fmt"
	"hash/maphash"
	"maps"
	"slices"

	"github.com/urnd/urnd/resolver/registry"
)

// findings collect the derived data that the versions imply.
type findings struct {
	totals  map[string]registry.Totals // of current versions
	current sum                        // of the expected rows of the table name
	words   sum                        // of the expected words of titles
	// Whether something may be damaged, or was changed meanwhile: the statements of derivedChecks then find out.
	warning bool
}

func (f *findings) add(other *findings) {
	if f.totals == nil {
		f.totals = make(map[string]registry.Totals)
	}
	for namespace, totals := range other.totals {
		f.totals[namespace] = f.totals[namespace].Plus(totals)
	}
	f.current.add(other.current)
	f.words.add(other.words)
	f.warning = f.warning || other.warning
}

// sum is a number of values and the sum of their hashes. It is independent of their order.
type sum struct{ n, hashes uint64 }

func (s *sum) add(other sum) { s.n, s.hashes = s.n+other.n, s.hashes+other.hashes }

// pointer is the part of a row of the table name that refers to the current version.
type pointer struct {
	name, version, status int64
	alias                 string
}

// one returns the sum of a single value.
func one[T pointer | titleWord](v *verifier, value T) sum {
	return sum{1, maphash.Comparable(v.seed, value)}
}

// bitmap is a set of seqs, from 1.
type bitmap []uint64

func (b bitmap) has(seq registry.Seq) bool { return b[seq/64]>>(seq%64)&1 != 0 }
func (b bitmap) add(seq registry.Seq)      { b[seq/64] |= 1 << (seq % 64) }

// readCurrent reads the seqs of the current versions from the table name.
func (v *verifier) readCurrent(t *transaction) error {
	v.current = make(bitmap, v.head/64+1)
	for _, kind := range []registry.Kind{registry.KindPrefix, registry.KindName} {
		for after, rows := "", partSize; rows == partSize; {
			rows = 0
			err := t.conn.Query("SELECT id, version, status, alias, key FROM name WHERE kind = $1 AND key > $2 "+
				"ORDER BY key LIMIT $3", func(row Row) error {
				rows++
				if rows == partSize {
					after = row.Text(4)
				}
				version := registry.Seq(row.Int(1))
				if version < 1 || version > v.head {
					v.found.warning = true // unless it was written after the verification started
					return nil
				}
				v.current.add(version)
				v.names.add(one(v, pointer{row.Int(0), row.Int(1), row.Int(2), row.Text(3)}))
				return nil
			}, int64(kind), after, int64(partSize))
			if err != nil {
				return err
			}
		}
	}
	// Targets within this range are compared with the parts.
	return t.conn.Query("SELECT (SELECT min(version) FROM target), (SELECT max(version) FROM target)",
		func(row Row) error {
			v.found.warning = v.found.warning || !row.Null(0) && row.Int(0) < 1 || row.Int(1) > int64(v.head)
			return nil
		})
}

// follow checks the index columns of the targets of a version, and adds the derived data of the version to
// found.
func (v *verifier) follow(e *sealed, hosts map[string]int64, found *findings) {
	id := int64(0)
	if v.current.has(e.Seq) {
		id = int64(e.First)
		namespace := registry.Namespace(e.Name)
		totals := found.totals[namespace]
		totals.Add(&e.Entry, 1)
		found.totals[namespace] = totals
		found.current.add(one(v, pointer{id, int64(e.Seq), int64(e.Status), e.Alias}))
		for _, word := range titleWords(&e.Entry) {
			found.words.add(one(v, titleWord{word, e.First}))
		}
	}
	for i, place := range e.places {
		host := registry.HostOf(e.Targets[i].URI)
		if place.host != hosts[host] || place.host == 0 && host != "" {
			v.report(fmt.Sprintf("%s: host index misses a target of version %d, number %d", e.Key, e.Version, e.Seq))
		}
		found.warning = found.warning || place.current != id
	}
}

// hostsOf returns host.id by host, for the hosts of the targets of versions.
func (t *transaction) hostsOf(all []sealed) (map[string]int64, error) {
	reversed := make(map[string]string) // by the host of the URI
	for i := range all {
		for j := range all[i].Targets {
			if host := registry.HostOf(all[i].Targets[j].URI); host != "" && reversed[host] == "" {
				reversed[host] = reverse(host)
			}
		}
	}
	ids := make(map[string]int64, len(reversed))
	err := t.conn.Query("SELECT id, reversed FROM host WHERE reversed IN ($1...)", func(row Row) error {
		ids[row.Text(1)] = row.Int(0)
		return nil
	}, slices.Collect(maps.Values(reversed)))
	hosts := make(map[string]int64, len(reversed))
	for host, reversed := range reversed {
		hosts[host] = ids[reversed]
	}
	return hosts, err
}

// compareTotals compares the stored totals with those of the current versions, unless something was written
// meanwhile.
func (v *verifier) compareTotals(t *transaction) error {
	last, err := t.chain()
	if err != nil || last.last != v.head {
		return err
	}
	for _, size := range v.unfinished[:min(len(v.unfinished), maxProblems)] {
		v.report(size.problem())
	}
	if err := v.compareWords(t); err != nil {
		return err
	}
	stored, err := t.Totals()
	if err != nil {
		return err
	}
	for namespace, found := range v.found.totals {
		if stored[namespace] != found {
			v.report(fmt.Sprintf("%s: totals are %+v instead of %+v", namespace, stored[namespace], found))
		}
		delete(stored, namespace)
	}
	for namespace, total := range stored {
		if total != (registry.Totals{}) {
			v.report(fmt.Sprintf("%s: totals are %+v for a namespace without names", namespace, total))
		}
	}
	return nil
}

// compareWords compares the indexed words with the words of the titles.
func (v *verifier) compareWords(t *transaction) error {
	var stored sum
	var last titleWord
	for rows := partSize; rows == partSize; {
		rows = 0
		err := t.conn.Query("SELECT word, name FROM title_word WHERE (word, name) > ($1, $2) ORDER BY word, name "+
			"LIMIT $3", func(row Row) error {
			rows++
			last = titleWord{row.Text(0), registry.Seq(row.Int(1))}
			stored.add(one(v, last))
			return nil
		}, last.word, int64(last.name), int64(partSize))
		if err != nil {
			return err
		}
	}
	if words := v.found.words; stored != words {
		v.report(fmt.Sprintf("title index has %d words, differing from the %d of the names", stored.n, words.n))
	}
	return nil
}
