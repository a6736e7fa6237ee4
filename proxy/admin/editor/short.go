package editor

import (
	"strings"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/proxy/pages"
)

// What lists show of a name, which may have 100 targets of 8 KiB: its own pages have all of it.
const (
	shortLine  = 300 // bytes of a line
	shortLines = 10  // lines of a field that were removed, and that were added
	shortAll   = 50  // fields
)

// cut returns a text, or its beginning where it is long.
func cut(text string) string { return plaintext.Shorten(text, shortLine) }

// short returns differences as lists show them.
func short(in pages.Writer, all []difference) []difference {
	more := len(all) - shortAll
	made := make([]difference, min(len(all), shortAll))
	for i := range made {
		made[i] = all[i]
		made[i].Field = cut(all[i].Field)
		made[i].Removed, made[i].Added = cutLines(all[i].Removed), cutLines(all[i].Added)
		made[i].More = len(all[i].Removed) + len(all[i].Added) - len(made[i].Removed) - len(made[i].Added)
	}
	if more > 0 {
		made = append(made, difference{Field: in.Text("label.others"), More: more})
	}
	return made
}

func cutLines(lines []string) []string {
	made := make([]string, min(len(lines), shortLines))
	for i := range made {
		made[i] = cut(strings.TrimSpace(lines[i]))
	}
	return made
}
