package registry

import (
	"time"
	"unicode/utf8"
)

// portableTables are the tables whose documents are in a portable backup. The others follow from versions, or are the chain of this program.
func portableTables() []portableTable {
	return []portableTable{
		{TableTokens, "token"},
		{TableMints, "mint"},
		{TableCounts, "resolved"},
		{TableHealth, "health"},
		{TableLeases, "lease"},
		{TableImports, "import"},
		{TableJobs, "job"},
		{TableRequests, "request"},
		{TableMarks, "mark"},
	}
}

type portableTable struct {
	table Table
	name  string
}

// portableLine is a line of a portable backup: it has one of its members.
type portableLine struct {
	Set      *ChangeSet        `json:"set,omitempty"`
	Version  *portableVersion  `json:"version,omitempty"`
	Event    *portableEvent    `json:"event,omitempty"`
	Purged   *portablePurged   `json:"purged,omitempty"`
	Document *portableDocument `json:"document,omitempty"`
	End      *portableEnd      `json:"end,omitempty"`
}

type portableHead struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Head    Seq       `json:"head"`
	Made    time.Time `json:"made"`
}

// Times are milliseconds since 1970, as stores have them.
type portableVersion struct {
	Seq           Seq              `json:"seq"`
	Set           Seq              `json:"set"`
	Prefix        bool             `json:"prefix,omitempty"`
	Name          string           `json:"name"`
	Version       int              `json:"version"`
	Changed       int64            `json:"changed"`
	By            string           `json:"by,omitempty"`
	Note          string           `json:"note,omitempty"`
	Status        Status           `json:"status"`
	Since         int64            `json:"since"`
	Reason        string           `json:"reason,omitempty"`
	Successors    []string         `json:"successors,omitempty"`
	Alias         string           `json:"alias,omitempty"`
	Targets       []portableTarget `json:"targets,omitempty"`
	Metadata      string           `json:"metadata,omitempty"`
	Contact       string           `json:"contact,omitempty"`
	Redirect      int              `json:"redirect,omitempty"`
	Pattern       string           `json:"pattern,omitempty"`
	Authoritative bool             `json:"authoritative,omitempty"`
	Sandbox       bool             `json:"sandbox,omitempty"`
	Redacted      bool             `json:"redacted,omitempty"`
}

type portableTarget struct {
	URI      string `json:"uri"`
	Type     string `json:"type,omitempty"`
	Language string `json:"language,omitempty"`
	Priority int    `json:"priority,omitempty"`
	From     *int64 `json:"from,omitempty"` // nil is no bound, which 1970 is one
	Until    *int64 `json:"until,omitempty"`
	Note     string `json:"note,omitempty"`
	Rel      string `json:"rel,omitempty"`
	Title    string `json:"title,omitempty"`
	Context  string `json:"context,omitempty"`
}

type portableEvent struct {
	Seq    Seq    `json:"seq"`
	Set    Seq    `json:"set"`
	Type   string `json:"type"` // redaction or purge
	Prefix bool   `json:"prefix,omitempty"`
	Name   string `json:"name"`
	Time   *int64 `json:"time,omitempty"` // nil for purges of before purges had a time
	By     string `json:"by,omitempty"`
	Note   string `json:"note,omitempty"`
	Of     []Seq  `json:"of,omitempty"`
}

type portablePurged struct {
	Seq  Seq    `json:"seq"`
	Set  Seq    `json:"set"`
	Leaf string `json:"leaf"` // in hexadecimal; zeros for a Seq without a row
}

type portableDocument struct {
	Table string `json:"table"`
	Key   string `json:"key"`
	Value string `json:"value"`
}

type portableEnd struct {
	Lines int64 `json:"lines"` // before this one
}

// valid reports whether texts are UTF-8: JSON has no others, and json.Encoder would replace what is not.
func valid(texts ...string) bool {
	for _, text := range texts {
		if !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

func validEntry(e *Entry) bool {
	for i := range e.Targets {
		t := &e.Targets[i]
		if !valid(t.URI, t.Type, t.Language, t.Note, t.Rel, t.Title, t.Context) {
			return false
		}
	}
	return valid(e.Name, e.By, e.Note, e.Reason, e.Alias, e.Metadata, e.Contact, e.Pattern) && valid(e.Successors...)
}

// millisecondsOf returns a time as stores have it, nil for none.
func millisecondsOf(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(t.UnixMilli())
}
