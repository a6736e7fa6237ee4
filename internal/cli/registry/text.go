package registry

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

// entryText returns an entry for people: its key, and a line for each thing that is known.
func entryText(e registry.Entry) string {
	var text bytes.Buffer
	fmt.Fprintln(&text, e.Key)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(table, "  %s\t%s\n", label, oneLine(value))
		}
	}
	row("status", e.Status.String()+" since "+timeText(e.Since))
	row("reason", e.Reason)
	for _, s := range e.Successors {
		row("successor", s)
	}
	row("alias of", e.Alias)
	for _, t := range e.Targets {
		row("target", t.String())
	}
	row("metadata", e.Metadata)
	row("contact", e.Contact)
	row("pattern", e.Pattern)
	switch {
	case e.Authoritative && len(e.Targets) == 0:
		row("authoritative", "names below that are not registered do not exist")
	case e.Authoritative:
		row("authoritative", "no other system is asked for names below")
	}
	if e.Sandbox {
		row("sandbox", "it may be purged")
	}
	row("version", versionOf(e))
	_ = table.Flush() // a buffer takes all
	return text.String()
}

// versionOf says who made a version, when and why.
func versionOf(e registry.Entry) string {
	text := fmt.Sprintf("%d, %s", e.Version, timeText(e.Changed))
	if e.By != "" {
		text += ", by " + e.By
	}
	if e.Redacted {
		text += ", redacted"
	}
	if e.Former != "" {
		text += ", renamed from " + e.Former
	}
	if e.Note != "" {
		text += ": " + e.Note
	}
	return oneLine(text)
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// oneLine returns a text that is written by others with what would break a line, command a terminal or change the direction of a
// text (Unicode, UAX 9) as \u and its number: what is seen is what is there.
func oneLine(text string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || r == '\ufeff'
	}
	if strings.IndexFunc(text, hidden) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printDifferences prints a line for each difference of a version from the one before it, which is the zero
// value for the first.
func printDifferences(w io.Writer, before, after registry.Entry) {
	for _, d := range registry.Differences(before.Record, after.Record) {
		if !before.Exists() {
			d.Before = "" // there was no status
		}
		switch {
		case d.Before == "":
			fmt.Fprintf(w, "  + %s %s\n", d.Field, oneLine(d.After))
		case d.After == "":
			fmt.Fprintf(w, "  - %s %s\n", d.Field, oneLine(d.Before))
		default:
			fmt.Fprintf(w, "  %s: %s -> %s\n", d.Field, oneLine(d.Before), oneLine(d.After))
		}
	}
}

// printEntry prints an entry for people, or as a document.
func printEntry(w io.Writer, e registry.Entry, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(w, api.NewName(e))
	}
	_, err := io.WriteString(w, entryText(e))
	return err
}
