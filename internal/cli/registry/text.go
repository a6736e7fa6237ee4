package registry

import (
	"bytes"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
	"github.com/urnd/urnd/resolver/registry/field"
)

// entryText returns an entry for people: its key, and a line for each thing that is known.
func entryText(e registry.Entry) string {
	var text bytes.Buffer
	fmt.Fprintln(&text, e.Key)
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	row := func(label, value string) {
		fmt.Fprintf(table, "  %s\t%s\n", label, oneLine(value))
	}
	for _, f := range field.OfRecord() {
		fact := f.Fact(&e.Record)
		switch f.Name {
		case "status":
			fact.Lines[0] += " since " + timeText(e.Since)
		case "since":
			continue
		case "authoritative":
			switch {
			case e.Authoritative && len(e.Targets) == 0:
				fact.Lines = []string{"names below that are not registered do not exist"}
			case e.Authoritative:
				fact.Lines = []string{"no other system is asked for names below"}
			}
		case "sandbox":
			if e.Sandbox {
				fact.Lines = []string{"it may be purged"}
			}
		}
		for _, line := range fact.Lines {
			row(fact.Label, line)
		}
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
	if e.Note != "" {
		text += ": " + e.Note
	}
	return oneLine(text)
}

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

func oneLine(text string) string { return diff.OneLine(text) }

// printEntry prints an entry for people, or as a document.
func printEntry(w io.Writer, e registry.Entry, asJSON bool) error {
	if asJSON {
		return cli.PrintJSON(w, api.NewName(e))
	}
	_, err := io.WriteString(w, entryText(e))
	return err
}
