package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// A dump is a sequence of JSON lines: a head; the change sets; the versions and events in the order of their
// seq, each commit behind its last one; the rows of the side tables; and an end with the number of lines before
// it. Times are milliseconds since 1970. Zero values are omitted.

const (
	dumpFormat  = "urnd-registry"
	dumpVersion = 1
)

// dumpHead is the first line.
type dumpHead struct {
	Format  string       `json:"format"`
	Version int          `json:"version"`
	Head    registry.Seq `json:"head"`
	Made    time.Time    `json:"made"`
}

// dumpLine is any other line. Exactly one member is set, or Table and Row.
type dumpLine struct {
	Set     *registry.ChangeSet        `json:"set,omitempty"`
	Version *dumpedVersion             `json:"version,omitempty"`
	Purged  *dumpedPurged              `json:"purged,omitempty"`
	Event   *dumpedEvent               `json:"event,omitempty"`
	Commit  *dumpedCommit              `json:"commit,omitempty"`
	Table   string                     `json:"table,omitempty"`
	Row     map[string]json.RawMessage `json:"row,omitempty"`
	End     *dumpEnd                   `json:"end,omitempty"`
}

type dumpedVersion struct {
	Seq           registry.Seq    `json:"seq"`
	Prefix        bool            `json:"prefix,omitempty"`
	Name          string          `json:"name"`
	Version       int             `json:"version"`
	Changed       int64           `json:"changed"`
	By            string          `json:"by,omitempty"`
	Note          string          `json:"note,omitempty"`
	Status        registry.Status `json:"status"`
	Since         int64           `json:"since"`
	Reason        string          `json:"reason,omitempty"`
	Successors    []string        `json:"successors,omitempty"`
	Alias         string          `json:"alias,omitempty"`
	Targets       []dumpedTarget  `json:"targets,omitempty"`
	Metadata      string          `json:"metadata,omitempty"`
	Contact       string          `json:"contact,omitempty"`
	Redirect      int             `json:"redirect,omitempty"`
	Pattern       string          `json:"pattern,omitempty"`
	Authoritative bool            `json:"authoritative,omitempty"`
	Sandbox       bool            `json:"sandbox,omitempty"`
	Redacted      bool            `json:"redacted,omitempty"`
	Salt          []byte          `json:"salt,omitempty"`
	Digest        []byte          `json:"digest,omitempty"`
}

type dumpedTarget struct {
	URI      string `json:"uri"`
	Type     string `json:"type,omitempty"`
	Language string `json:"language,omitempty"`
	Priority int    `json:"priority,omitempty"`
	From     *int64 `json:"from,omitempty"`
	Until    *int64 `json:"until,omitempty"`
	Note     string `json:"note,omitempty"`
	Rel      string `json:"rel,omitempty"`
	Title    string `json:"title,omitempty"`
	Context  string `json:"context,omitempty"`
}

// dumpedPurged is the remainder of a purged version.
type dumpedPurged struct {
	Seq  registry.Seq `json:"seq"`
	Leaf string       `json:"leaf"` // hexadecimal
}

type dumpedEvent struct {
	Seq    registry.Seq   `json:"seq"`
	Type   string         `json:"type"`
	Prefix bool           `json:"prefix,omitempty"`
	Name   string         `json:"name"`
	Time   int64          `json:"time"`
	By     string         `json:"by,omitempty"`
	Note   string         `json:"note,omitempty"`
	Of     []registry.Seq `json:"of,omitempty"`
}

type dumpedCommit struct {
	Last   registry.Seq `json:"last"`
	Set    registry.Seq `json:"set"`
	Digest []byte       `json:"digest"`
}

// dumpedRow is the line of a row of a side table, by column name; NULL columns are omitted.
type dumpedRow struct {
	Table string         `json:"table"`
	Row   map[string]any `json:"row"`
}

type dumpEnd struct {
	Lines int64 `json:"lines"` // number of lines before this one
}

func dumpedKey(prefix bool, name string) registry.Key {
	if prefix {
		return registry.Prefix(name)
	}
	return registry.Name(name)
}

// dumped returns the line of a version.
func dumped(v *sealed) *dumpedVersion {
	d := &dumpedVersion{
		Seq: v.Seq, Prefix: v.Kind == registry.KindPrefix, Name: v.Name, Version: v.Version,
		Changed: v.Changed.UnixMilli(), By: v.By, Note: v.Note, Status: v.Status, Since: v.Since.UnixMilli(),
		Reason: v.Reason, Successors: v.Successors, Alias: v.Alias, Metadata: v.Metadata, Contact: v.Contact,
		Redirect: v.Redirect, Pattern: v.Pattern, Authoritative: v.Authoritative, Sandbox: v.Sandbox,
		Redacted: v.Redacted, Salt: v.salt, Digest: v.digest,
	}
	for i := range v.Targets {
		t := &v.Targets[i]
		d.Targets = append(d.Targets, dumpedTarget{
			URI: t.URI, Type: t.Type, Language: t.Language, Priority: t.Priority, From: milliseconds(t.From),
			Until: milliseconds(t.Until), Note: t.Note, Rel: t.Rel, Title: t.Title, Context: t.Context,
		})
	}
	return d
}

// sealed returns the version of a line.
func (d *dumpedVersion) sealed() sealed {
	v := sealed{salt: d.Salt, digest: d.Digest, Entry: registry.Entry{
		Key: dumpedKey(d.Prefix, d.Name), Seq: d.Seq, Version: d.Version, Changed: toTime(d.Changed), By: d.By,
		Note: d.Note, Redacted: d.Redacted,
		Record: registry.Record{
			Status: d.Status, Since: toTime(d.Since), Reason: d.Reason, Successors: d.Successors, Alias: d.Alias,
			Metadata: d.Metadata, Contact: d.Contact, Redirect: d.Redirect, Pattern: d.Pattern,
			Authoritative: d.Authoritative,
			Sandbox:       d.Sandbox,
		},
	}}
	for i := range d.Targets {
		t := &d.Targets[i]
		v.Targets = append(v.Targets, registry.Target{
			URI: t.URI, Type: t.Type, Language: t.Language, Priority: t.Priority, From: timeOf(t.From),
			Until: timeOf(t.Until), Note: t.Note, Rel: t.Rel, Title: t.Title, Context: t.Context,
		})
	}
	return v
}

// event returns the event of a line.
func (d *dumpedEvent) event() registry.Event {
	return registry.Event{
		Key: dumpedKey(d.Prefix, d.Name), Seq: d.Seq, Kind: d.Type, By: d.By, Note: d.Note, Time: toTime(d.Time),
		Affected: d.Of,
	}
}

// milliseconds returns a time in milliseconds since 1970, nil for the zero value.
func milliseconds(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

func timeOf(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return toTime(*ms)
}

// parseStrictly parses a line. It rejects unknown members: they would be lost.
func parseStrictly(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// parseDumpHead parses the first line.
func parseDumpHead(text []byte) (dumpHead, error) {
	var head dumpHead
	if err := parseStrictly(text, &head); err != nil || head.Format != dumpFormat {
		return head, fmt.Errorf("%w: neither an SQLite file nor a portable backup", registry.ErrInvalid)
	}
	if head.Version != dumpVersion {
		return head, fmt.Errorf("%w: format version %d, this urnd reads version %d", registry.ErrSchema, head.Version,
			dumpVersion)
	}
	return head, nil
}
