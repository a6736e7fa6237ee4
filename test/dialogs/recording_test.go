//go:build e2e

package dialogs

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// record is a played dialog.
type record struct {
	name      string
	lines     []string // "> " sent, "< " received, "| " and "= " state of the connection
	responses int
	took      time.Duration
}

// family contains dialogs that are played sequentially on one daemon.
type family struct {
	name     string
	settings string // YAML that overrides testdata/world/urnd.yaml
	bodies   bool   // received long texts are stored in testdata/bodies, in addition to their hashes
	dialogs  func() []dialog
}

// bodiesOf contains the long texts of all families by hash.
type bodiesOf struct {
	mu  sync.Mutex
	all map[string][]byte
}

var bodies = bodiesOf{all: make(map[string][]byte)}

func (b *bodiesOf) add(more map[string][]byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.Copy(b.all, more)
}

// playAll plays the dialogs of a family in a separate world.
func (f family) playAll(from *template, directory string) (records []record, err error) {
	w, err := newWorld(from, directory, f.settings)
	if err != nil {
		return nil, err
	}
	defer func() {
		if closed := w.close(); err == nil {
			err = closed
		}
	}()
	n := &normalizer{network: w.net, bodies: make(map[string][]byte)}
	defer func() { bodies.add(n.bodies) }()
	probe, err := probeOf(w, n)
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for _, d := range f.dialogs() {
		d.name = strings.TrimSpace(escape(strings.ReplaceAll(d.name, "\r\n", " and ")))
		if seen[d.name] {
			return nil, fmt.Errorf("%s has two dialogs %q", f.name, d.name)
		}
		seen[d.name] = true
		began := time.Now()
		lines, responses, err := d.record(w, n, probe)
		if err != nil {
			return nil, fmt.Errorf("playing %q: %w", d.name, err)
		}
		records = append(records, record{d.name, lines, responses, time.Since(began)})
	}
	return records, nil
}

const (
	titleMark = "=== "
	sameMark  = "< same as "
)

// blocks splits the lines of a record into responses and the lines between them.
func blocks(lines []string) [][]string {
	var all [][]string
	for i, line := range lines {
		begins := strings.HasPrefix(line, "< HTTP/") || strings.HasPrefix(line, sameMark) ||
			!strings.HasPrefix(line, "< ")
		if i == 0 || begins {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], line)
	}
	return all
}

// idOf returns the identifier of a block.
func idOf(block []string) string { return hashOf([]byte(strings.Join(block, "\n")))[:8] }

// format formats the recording of a family. A repeated response is replaced by the hash of its lines.
func format(records []record) string {
	var b strings.Builder
	written := make(map[string]bool)
	for _, r := range records {
		b.WriteString(titleMark + r.name + "\n")
		for _, block := range blocks(r.lines) {
			text, id := strings.Join(block, "\n")+"\n", idOf(block)
			switch {
			case !strings.HasPrefix(text, "< "):
				b.WriteString(text)
			case written[id]:
				status := block[0]
				b.WriteString(sameMark + id + ": " + strings.TrimPrefix(status, "< ") + "\n")
			default:
				written[id] = true
				b.WriteString(text)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// parse parses the output of format.
func parse(text string) map[string][]string {
	all := make(map[string][]string)
	known := make(map[string][]string)
	for part := range strings.SplitSeq("\n"+text, "\n"+titleMark) {
		name, rest, ok := strings.Cut(part, "\n")
		if !ok {
			continue
		}
		var lines []string
		for _, block := range blocks(strings.Split(strings.Trim(rest, "\n"), "\n")) {
			if after, ok := strings.CutPrefix(block[0], sameMark); ok {
				id, _, _ := strings.Cut(after, ":")
				lines = append(lines, known[id]...)
				continue
			}
			known[idOf(block)] = block
			lines = append(lines, block...)
		}
		all[name] = lines
	}
	return all
}

// compareFamily compares records with their recording, or updates it, and returns the number of differences.
func compareFamily(t *testing.T, f family, records []record) int {
	t.Helper()
	path := filepath.Join("testdata", f.name+".txt")
	played := format(records)
	if *update {
		if err := writeRecording(path, played, f.bodies); err != nil {
			t.Fatal(err)
		}
		return 0
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) == played {
		return 0
	}
	recorded := parse(string(text))
	var shown strings.Builder
	differing := 0
	note := func(dialog string, was, is []string) {
		if slices.Equal(was, is) {
			return
		}
		if differing++; differing <= *show {
			fmt.Fprintf(&shown, "%s%s\n%s\n", titleMark, dialog, differenceOf(was, is))
		}
	}
	for _, r := range records {
		note(r.name, recorded[r.name], r.lines)
		delete(recorded, r.name)
	}
	for _, dialog := range slices.Sorted(maps.Keys(recorded)) {
		note(dialog, recorded[dialog], nil)
	}
	folder := filepath.Join(os.TempDir(), "urnd-dialogs")
	if err := writeRecording(filepath.Join(folder, f.name+".txt"), played, true); err != nil {
		t.Error(err)
	}
	t.Errorf("%d of %d dialogs differ from %s; the played ones are in %s\n%s", differing, len(records), path, folder,
		shown.String())
	return differing
}

// writeRecording writes a recording and, if kept, the bodies to which it refers.
func writeRecording(path, text string, kept bool) error {
	folder := filepath.Join(filepath.Dir(path), "bodies")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	bodies.mu.Lock()
	defer bodies.mu.Unlock()
	for hash, body := range bodies.all {
		if kept && strings.Contains(text, "sha256 "+hash) {
			if err := os.WriteFile(filepath.Join(folder, hash+".txt"), body, 0o644); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// unusedBodies removes, with -update, bodies that no recording refers to.
func unusedBodies(t *testing.T) {
	if !*update {
		return
	}
	recordings, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range recordings {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	kept, err := filepath.Glob("testdata/bodies/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range kept {
		if !strings.Contains(all.String(), "sha256 "+strings.TrimSuffix(filepath.Base(path), ".txt")) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// differenceOf formats the different lines with their context, like "diff -u".
func differenceOf(was, is []string) string {
	longest := make([][]int, len(was)+1) // number of common lines after i and j
	for i := range longest {
		longest[i] = make([]int, len(is)+1)
	}
	for i := len(was) - 1; i >= 0; i-- {
		for j := len(is) - 1; j >= 0; j-- {
			if was[i] == is[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var lines []string
	for i, j := 0, 0; i < len(was) || j < len(is); {
		switch {
		case i < len(was) && j < len(is) && was[i] == is[j]:
			lines = append(lines, " "+was[i])
			i, j = i+1, j+1
		case j == len(is) || i < len(was) && longest[i+1][j] >= longest[i][j+1]:
			lines = append(lines, "-"+was[i])
			i++
		default:
			lines = append(lines, "+"+is[j])
			j++
		}
	}
	const around = 3
	var b strings.Builder
	skipped := false
	for i, line := range lines {
		near := slices.ContainsFunc(lines[max(0, i-around):min(len(lines), i+around+1)],
			func(l string) bool { return l[0] != ' ' })
		if near || strings.HasPrefix(line, " > ") {
			b.WriteString(line + "\n")
			skipped = false
		} else if !skipped {
			b.WriteString(" ...\n")
			skipped = true
		}
	}
	return b.String()
}

// selected reports whether a family is to be played.
func selected(name string) bool {
	return *only == "" || slices.Contains(strings.Split(*only, ","), name)
}
