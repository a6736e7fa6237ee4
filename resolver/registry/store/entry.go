package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// entryColumns are the columns of an entry, of version v, name n, author a and target t, in the order in which scan reads them.
const entryColumns = "v.seq, n.kind, n.key, n.id, v.number, v.time, a.name, v.status, v.since, v.redirect, v.authoritative, " +
	"v.sandbox, v.alias, v.note, v.reason, v.successors, v.pattern, v.contact, v.metadata, v.redacted, " + targetColumns

// targetColumns are those of target t.
const targetColumns = "t.uri, t.priority, t.starts, t.ends, t.relation, t.type, t.language, t.context, t.title, t.note"

// entryTables joins what entryColumns are of to rows of version v.
const entryTables = " JOIN name n ON n.id = v.name JOIN author a ON a.id = v.author LEFT JOIN target t ON t.version = v.seq "

// firstTarget is the column of the URI of a target, and entryWidth is how many entryColumns there are.
const (
	firstTarget = 20
	entryWidth  = firstTarget + 10
)

// entries collects the entries of rows with entryColumns: those of one version, each with a target, follow one another.
type entries struct {
	all []registry.Entry
}

// add adds the next row.
func (s *entries) add(row Row) error {
	seq := registry.Seq(row.Int(0))
	if n := len(s.all); n == 0 || s.all[n-1].Seq != seq {
		e, err := scanEntry(row, seq)
		if err != nil {
			return err
		}
		s.all = append(s.all, e)
	}
	if uri := row.Text(firstTarget); uri != "" {
		e := &s.all[len(s.all)-1]
		e.Targets = append(e.Targets, scanTarget(row, firstTarget, uri))
	}
	return nil
}

// one returns the only entry, the zero value if there is none.
func (s *entries) one() registry.Entry {
	if len(s.all) == 0 {
		return registry.Entry{}
	}
	return s.all[0]
}

// scanEntry returns the entry of a row with entryColumns, without targets.
func scanEntry(row Row, seq registry.Seq) (registry.Entry, error) {
	e := registry.Entry{
		Key: registry.Key{Kind: registry.Kind(row.Int(1)), Name: row.Text(2)}, //nolint:gosec // 0 or 1, by a CHECK
		Seq: seq, First: registry.Seq(row.Int(3)), Version: int(row.Int(4)), Changed: toTime(row.Int(5)), By: row.Text(6),
	}
	status := row.Int(7)
	if status < 0 || status > int64(registry.Withdrawn) {
		return e, fmt.Errorf("%w: version %d has the status %d", registry.ErrDamaged, seq, status)
	}
	e.Status, e.Since = registry.Status(status), e.Changed //nolint:gosec // it was compared
	if !row.Null(8) {
		e.Since = toTime(row.Int(8))
	}
	e.Redirect = int(row.Int(9))
	e.Authoritative, e.Sandbox = row.Int(10) != 0, row.Int(11) != 0
	e.Alias, e.Note, e.Reason = row.Text(12), row.Text(13), row.Text(14)
	if successors := row.Text(15); successors != "" {
		if err := json.Unmarshal([]byte(successors), &e.Successors); err != nil {
			return e, fmt.Errorf("%w: the successors of version %d: %w", registry.ErrDamaged, seq, err)
		}
	}
	e.Pattern, e.Contact, e.Metadata = row.Text(16), row.Text(17), row.Text(18)
	e.Redacted = row.Int(19) != 0
	return e, nil
}

// scanTarget returns the target whose columns begin at first.
func scanTarget(row Row, first int, uri string) registry.Target {
	return registry.Target{
		URI: uri, Priority: int(row.Int(first + 1)), From: timeOf(row, first+2), Until: timeOf(row, first+3),
		Rel: row.Text(first + 4), Type: row.Text(first + 5), Language: row.Text(first + 6), Context: row.Text(first + 7),
		Title: row.Text(first + 8), Note: row.Text(first + 9),
	}
}

// versionColumns are the columns that appendVersion adds values for.
func versionColumns() []string {
	return []string{
		"seq", "name", "number", "time", "author", "status", "since", "redirect", "authoritative", "sandbox", "alias", "note", "reason",
		"successors", "pattern", "contact", "metadata", "salt", "digest",
	}
}

// version is a version that is to be inserted.
type version struct {
	*registry.Entry
	name         registry.Seq // name.id
	author       int64
	salt, digest []byte
}

func (n *version) add(v Values) {
	v.Int(int64(n.Seq))
	v.Int(int64(n.name))
	v.Int(int64(n.Version))
	v.Int(n.Changed.UnixMilli())
	v.Int(n.author)
	v.Int(int64(n.Status))
	if n.Since.IsZero() || n.Since.Equal(n.Changed) {
		v.Null()
	} else {
		v.Int(n.Since.UnixMilli())
	}
	optional(v, int64(n.Redirect))
	flag(v, n.Authoritative)
	flag(v, n.Sandbox)
	optionalText(v, n.Alias)
	optionalText(v, n.Note)
	optionalText(v, n.Reason)
	optionalText(v, successorsText(n.Successors))
	optionalText(v, n.Pattern)
	optionalText(v, n.Contact)
	optionalText(v, n.Metadata)
	v.Bytes(n.salt)
	v.Bytes(n.digest)
}

// successorsText returns successors as a JSON array, "" for none.
func successorsText(successors []string) string {
	if len(successors) == 0 {
		return ""
	}
	text, _ := json.Marshal(successors) // texts have no errors
	return string(text)
}

// targetInsertColumns are the columns that target.add adds values for.
func targetInsertColumns() []string {
	return []string{
		"version", "position", "uri", "host", "current", "priority", "starts", "ends", "relation", "type", "language", "context", "title", "note",
	}
}

// target is a target that is to be inserted.
type target struct {
	*registry.Target
	version, position, host, current int64
}

func (t *target) add(v Values) {
	v.Int(t.version)
	v.Int(t.position)
	v.Text(t.URI)
	optional(v, t.host)
	optional(v, t.current)
	optional(v, int64(t.Priority))
	optionalTime(v, t.From)
	optionalTime(v, t.Until)
	optionalText(v, t.Rel)
	optionalText(v, t.Type)
	optionalText(v, t.Language)
	optionalText(v, t.Context)
	optionalText(v, t.Title)
	optionalText(v, t.Note)
}

// toTime returns a time of a column.
func toTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// timeOf returns the time of a column, the zero value for NULL.
func timeOf(row Row, column int) time.Time {
	if row.Null(column) {
		return time.Time{}
	}
	return toTime(row.Int(column))
}
