package store

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// entryColumns are the columns of an entry, from version v, name n, author a and target t, in the order in
// which scanEntry and scanTarget read them.
const entryColumns = "v.seq, n.kind, n.key, " + columnsBehindKey

const columnsBehindKey = "n.id, v.number, v.time, a.name, " + columnsBehindAuthor + ", " + targetColumns

const columnsBehindAuthor = "v.status, v.since, v.redirect, v.authoritative, v.sandbox, v.alias, v.note, v.reason, " +
	"v.successors, v.pattern, v.contact, v.metadata, v.redacted"

// targetColumns are the columns of target t.
const targetColumns = "t.uri, t.priority, t.starts, t.ends, t.relation, t.type, t.language, t.context, t.title, t.note"

// entryTables joins the other tables of entryColumns to rows of version v.
const entryTables = " JOIN name n ON n.id = v.name JOIN author a ON a.id = v.author LEFT JOIN target t ON t.version " +
	"= v.seq "

// columns reads the columns of a row from left to right.
type columns struct {
	Row
	next int
}

func (c *columns) int() int64 {
	c.next++
	return c.Int(c.next - 1)
}

func (c *columns) text() string {
	c.next++
	return c.Text(c.next - 1)
}

func (c *columns) flag() bool { return c.int() != 0 }

// time returns a time, the zero value for NULL.
func (c *columns) time() time.Time {
	if c.Null(c.next) {
		c.next++
		return time.Time{}
	}
	return toTime(c.int())
}

// entries collects entries from rows with entryColumns. A version has one row per target; its rows must be
// adjacent.
type entries struct {
	all    []registry.Entry
	target int // index of the first target column, once a row was read
}

// add adds the next row.
func (s *entries) add(row Row) error {
	seq := registry.Seq(row.Int(0))
	if n := len(s.all); n == 0 || s.all[n-1].Seq != seq {
		c := columns{row, 0}
		e, err := scanEntry(&c)
		if err != nil {
			return err
		}
		s.all, s.target = append(s.all, e), c.next
	}
	c := columns{row, s.target}
	if t := scanTarget(&c); t.URI != "" {
		e := &s.all[len(s.all)-1]
		e.Targets = append(e.Targets, t)
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
func scanEntry(c *columns) (e registry.Entry, err error) {
	e.Seq = registry.Seq(c.int())
	e.Kind, e.Name = registry.Kind(c.int()), c.text() //nolint:gosec // 0 or 1, by a CHECK
	e.First, e.Version = registry.Seq(c.int()), int(c.int())
	e.Changed, e.By = toTime(c.int()), c.text()
	status := c.int()
	if status < 0 || status > int64(registry.Withdrawn) {
		return e, fmt.Errorf("%w: version %d with the unknown status %d", registry.ErrDamaged, e.Seq, status)
	}
	e.Status = registry.Status(status)
	if e.Since = c.time(); e.Since.IsZero() {
		e.Since = e.Changed
	}
	e.Redirect = int(c.int())
	e.Authoritative, e.Sandbox = c.flag(), c.flag()
	e.Alias, e.Note, e.Reason = c.text(), c.text(), c.text()
	if e.Successors, err = parseSuccessors(c.text()); err != nil {
		return e, fmt.Errorf("%w: successors of version %d: %w", registry.ErrDamaged, e.Seq, err)
	}
	e.Pattern = c.text()
	e.Contact = c.text()
	e.Metadata = c.text()
	e.Redacted = c.flag()
	return e, nil
}

// scanTarget returns the target of a row, the zero value if there is none.
func scanTarget(c *columns) (t registry.Target) {
	t.URI, t.Priority = c.text(), int(c.int())
	t.From, t.Until = c.time(), c.time()
	t.Rel, t.Type, t.Language = c.text(), c.text(), c.text()
	t.Context, t.Title, t.Note = c.text(), c.text(), c.text()
	return t
}

// versionColumns are the columns for which version.add adds values.
func versionColumns() []string {
	return []string{
		"seq", "name", "number", "time", "author", "status", "since", "redirect", "authoritative", "sandbox", "alias",
		"note", "reason", "successors", "pattern", "contact", "metadata", "salt", "digest",
	}
}

// version is a version to insert.
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
	if n.Since.IsZero() || registry.SameTime(n.Since, n.Changed) {
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

// parseSuccessors returns the successors in a JSON array, nil for "".
func parseSuccessors(text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var successors []string
	err := json.Unmarshal([]byte(text), &successors)
	return successors, err
}

// successorsText returns successors as a JSON array, "" for none.
func successorsText(successors []string) string {
	if len(successors) == 0 {
		return ""
	}
	text, _ := json.Marshal(successors) // strings never fail to marshal
	return string(text)
}

// targetInsertColumns are the columns for which target.add adds values.
func targetInsertColumns() []string {
	return []string{
		"version", "position", "uri", "host", "current", "priority", "starts", "ends", "relation", "type", "language",
		"context", "title", "note",
	}
}

// target is a target to insert.
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

// toTime returns the time of a column in milliseconds since 1970.
func toTime(ms int64) time.Time { return time.UnixMilli(ms).UTC() }
