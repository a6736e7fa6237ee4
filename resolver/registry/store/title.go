package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/title"
)

// titleWords returns the words under which an entry is indexed; nil for a prefix.
func titleWords(e *registry.Entry) []string {
	if e.Kind != registry.KindName {
		return nil
	}
	return registry.TitleWords(e)
}

// titleWord is a row of title_word.
type titleWord struct {
	word string
	name registry.Seq
}

// insertWords replaces the indexed words of names whose titles have changed.
func (t *transaction) insertWords(n *newVersions) error {
	var added []titleWord
	for i := range n.all {
		e := n.all[i].Entry
		if n.last[e.Key] != i {
			continue
		}
		before, after := n.words[e.First], titleWords(e)
		if slices.Equal(before, after) {
			continue
		}
		if err := t.removeWords(e.First, before); err != nil {
			return err
		}
		for _, word := range after {
			added = append(added, titleWord{word, e.First})
		}
	}
	// Sorted in the order of the table, so that adjacent rows are written together.
	slices.SortFunc(added, func(a, b titleWord) int {
		return cmp.Or(strings.Compare(a.word, b.word), cmp.Compare(a.name, b.name))
	})
	return t.conn.Insert("title_word", []string{"word", "name"}, "", len(added), func(i int, v Values) {
		v.Text(added[i].word)
		v.Int(int64(added[i].name))
	})
}

func (t *transaction) removeWords(name registry.Seq, words []string) (err error) {
	if len(words) > 0 {
		err = t.conn.Exec("DELETE FROM title_word WHERE word IN ($1...) AND name = $2", words, int64(name))
	}
	return err
}

// Limits of a search for titles.
const (
	maxCounted = 2000 // rows counted per word to choose the rarest one
	// Rows that begin with the last word of a query; if there are more, only the complete word matches.
	maxBegun = 20_000
)

// titled is a search for names by title.
type titled struct {
	query  title.Query
	words  []string // complete words that a title must all contain
	begins string   // prefix of a word by which candidates are read, instead of by the first of words; "" for none
}

// ByTitle implements registry.Tx.
func (t *transaction) ByTitle(
	q title.Query, below, after string, limit int,
) (page []registry.Entry, last string, err error) {
	s := &titled{query: q}
	if err := t.plan(s); err != nil {
		return nil, "", err
	}
	return t.scan(scanQuery{
		next: func(behind int64) ([]int64, error) { return t.names(s, behind) },
		fit:  func(ids []int64) ([]int64, error) { return t.withOtherWords(s, ids) },
		fits: func(e *registry.Entry) bool { return s.query.Matches(titleWords(e)) },
	}, after, below, limit)
}

// plan chooses the words by which candidates are read: the rarest first.
func (t *transaction) plan(s *titled) error {
	last := len(s.query) - 1
	s.words = slices.Clone(s.query[:last])
	started, err := t.countWords(maxBegun+1, "word >= $1 AND word < $2", s.query[last], s.query[last]+"\U0010ffff")
	if started > maxBegun && last == 0 {
		s.words = s.query
	}
	counts := make(map[string]int64, len(s.words))
	for i := 0; i < len(s.words) && err == nil; i++ {
		counts[s.words[i]], err = t.countWords(maxCounted, "word = $1", s.words[i])
	}
	slices.SortStableFunc(s.words, func(a, b string) int { return cmp.Compare(counts[a], counts[b]) })
	if len(s.words) == 0 || started < counts[s.words[0]] && started <= maxBegun {
		s.begins = s.query[last]
	}
	return err
}

// countWords returns the number of rows that a condition selects, at most most.
func (t *transaction) countWords(most int, condition string, args ...any) (n int64, err error) {
	err = t.conn.Query(fmt.Sprintf("SELECT count(*) FROM (SELECT 1 FROM title_word WHERE %s LIMIT %d) t", condition,
		most), func(row Row) error {
		n = row.Int(0)
		return nil
	}, args...)
	return n, err
}

// names returns the next candidates: names behind one that have the word, or a word with the prefix, chosen by
// plan.
func (t *transaction) names(s *titled, behind int64) (names []int64, err error) {
	add := func(row Row) error {
		names = append(names, row.Int(0))
		return nil
	}
	if s.begins == "" {
		err = t.conn.Query("SELECT name FROM title_word WHERE word = $1 AND name > $2 ORDER BY name LIMIT $3", add,
			s.words[0], behind, int64(scanPage))
		return names, err
	}
	err = t.conn.Query("SELECT DISTINCT name FROM title_word WHERE word >= $1 AND word < $2 AND name > $3 ORDER BY "+
		"name LIMIT $4",
		add, s.begins, s.begins+"\U0010ffff", behind, int64(scanPage))
	return names, err
}

// withOtherWords returns those of names that also have the other words.
func (t *transaction) withOtherWords(s *titled, names []int64) ([]int64, error) {
	others := s.words
	if s.begins == "" {
		others = s.words[1:]
	}
	for _, word := range others {
		var with []int64
		err := t.conn.Query("SELECT name FROM title_word WHERE word = $1 AND name IN ($2...) ORDER BY name",
			func(row Row) error {
				with = append(with, row.Int(0))
				return nil
			}, word, names)
		if names = with; err != nil || len(names) == 0 {
			return nil, err
		}
	}
	return names, nil
}
