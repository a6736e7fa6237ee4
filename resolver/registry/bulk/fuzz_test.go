package bulk

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// seen returns the columns of all lines that input makes, with their numbers.
func seen(t *testing.T, text string, format Format) (lines []string) {
	t.Helper()
	in, err := openInput(strings.NewReader(text), format, map[string]string{"*": "-"}, "")
	if err != nil {
		return nil
	}
	defer in.close()
	last := int64(0)
	for {
		b, err := in.next()
		if err != nil {
			return lines
		}
		if b.line <= last {
			t.Fatalf("block at line %d after line %d", b.line, last)
		}
		if last = b.line; b.fault != nil {
			lines = append(lines, fmt.Sprint(b.line, " ", b.fault))
			continue
		}
		in.lines(b, func(l *line, input string, fault error) {
			if l.number < last {
				t.Fatalf("line %d after line %d", l.number, last)
			}
			last = l.number
			lines = append(lines, fmt.Sprint(l.number, l.entry.Name, l.entry.Note, l.entry.Targets, fault))
		})
	}
}

// FuzzInput has any input make lines with rising numbers, and no panic.
func FuzzInput(f *testing.F) {
	for _, text := range []string{
		"name,target\na,b\n", "name;note\n\"a\";\"b\"\"\r\nc\"\r\n", "name\tpriority\na\t7", "sep=|\nname|from\na|2031-05-01\n",
		`{"name":"a","targets":[{"uri":"b","priority":1},"c"],"metadata":{"a":[{}]}}` + "\n",
		`{"name":"\ud800","successors":["a"]}`, "name,note\na,\"b\nc,d\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []Format{Detect, CSV, TSV, NDJSON} {
			seen(t, text, format)
		}
	})
}

// FuzzTable compares CSV that encoding/csv writes with what is read of it.
func FuzzTable(f *testing.F) {
	f.Add("a", "b\r\n\"c\"", "d,e", ";\t")
	f.Add(" ", "", "\n", "\"")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		rows := [][]string{{a, b}, {c, d}, {"x" + a, "\"" + d}}
		var text strings.Builder
		w := csv.NewWriter(&text)
		_ = w.Write([]string{"name", "note"})
		_ = w.WriteAll(rows)
		r := newRows(text.String()[len("name,note\n"):], 1, ',')
		for n := range rows {
			read, err := r.next()
			if err != nil || read.fault != nil {
				t.Fatalf("%q: %v, %v", text.String(), err, read.fault)
			}
			for i, want := range rows[n] { // spaces belong to quoted fields alone
				if !strings.ContainsAny(want, "\"\r\n,") && strings.TrimLeftFunc(want, unicode.IsSpace) == want {
					want = trimCell(want)
				}
				if read.cells[i] != want {
					t.Fatalf("%q was read as %q", rows[n], read.cells)
				}
			}
		}
		if read, err := r.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("%q: after all %+v, %v", text.String(), read, err)
		}
	})
}

// FuzzMembers compares the members of objects with those that encoding/json finds.
func FuzzMembers(f *testing.F) {
	f.Add(`{"a":"b\nc","d":[1,{"e":"]}"}], "f" : null,"g":-1.5e3}`)
	f.Add(`{"":true}`)
	f.Add(`{"a":1}{}`)
	f.Fuzz(func(t *testing.T, object string) {
		var want map[string]json.RawMessage
		failed := json.Unmarshal([]byte(object), &want)
		if want == nil && failed == nil {
			return // null
		}
		got := make(map[string]json.RawMessage)
		err := members(object, func(name, value string) error {
			var s string
			if err := json.Unmarshal([]byte(value), &s); err == nil && value != "null" {
				if own, err := text(value); err != nil || strings.ToValidUTF8(own, "\ufffd") != own && s == own {
					t.Fatalf("%s is read as %q, %v", value, own, err)
				}
			}
			got[strings.ToValidUTF8(name, "\ufffd")] = json.RawMessage(value)
			return nil
		})
		if err != nil && (strings.HasSuffix(err.Error(), " twice") || strings.HasSuffix(err.Error(), " members")) {
			return // encoding/json takes the last one
		}
		if (err == nil) != (failed == nil) {
			t.Fatalf("%q: %v, encoding/json: %v", object, err, failed)
		}
		if err == nil && len(got) > len(want) {
			t.Fatalf("%q has %v, want %v", object, got, want)
		}
	})
}

// FuzzRecord has a record of the sort be read as it was.
func FuzzRecord(f *testing.F) {
	f.Add("name,prefix,version,changed,since,target,from,note\n", "a:b,yes,3,2031-05-01,2030-01-01,c,2029-01-01,\"d\ne\"\n")
	f.Add("name,status,metadata,authoritative,targets\n", "a:b,reserved,{},1,a b c\n")
	f.Fuzz(func(t *testing.T, head, body string) {
		in, err := openInput(strings.NewReader(head+body), CSV, nil, "")
		if err != nil {
			return
		}
		for {
			b, err := in.next()
			if err != nil {
				return
			}
			if b.fault != nil {
				continue
			}
			in.lines(b, func(l *line, _ string, fault error) {
				if fault != nil || strings.ContainsRune(l.entry.Name, 0) {
					return
				}
				read, err := lineOf(appendRecord(nil, l))
				l.more = nil
				if len(l.entry.Targets) == 0 {
					l.entry.Targets = nil
				}
				if len(l.entry.Successors) == 0 {
					l.entry.Successors = nil
				}
				if err != nil || !reflect.DeepEqual(read, *l) {
					t.Fatalf("%+v was read as %+v, %v", *l, read, err)
				}
			})
		}
	})
}

// FuzzForeign has any input of a foreign format make entries with numbers that do not fall, and no panic.
func FuzzForeign(f *testing.F) {
	formats := []Format{Bioregistry, Handle, PURL, W3ID, Shlink, DNB, RewriteMap, Nginx, NOID, DataCite}
	samples, err := filepath.Glob("testdata/foreign/*")
	if err != nil || len(samples) == 0 {
		f.Fatal(err)
	}
	for _, path := range samples {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range formats {
			in, err := openInput(strings.NewReader(text), format, nil, "https://a.example/b/")
			if err != nil {
				continue
			}
			last := int64(0)
			for b, err := in.next(); err == nil; b, err = in.next() {
				in.lines(b, func(l *line, input string, fault error) {
					if l.number < last || len(l.lost) > maxLost || len(input) > shown {
						t.Errorf("%s: entry %d after %d, %d lost, shown %d", format, l.number, last, len(l.lost), len(input))
					}
					last = l.number
					if fault == nil && l.entry.Name == "" {
						t.Errorf("%s: entry %d has no name and no fault", format, l.number)
					}
				})
			}
			in.close()
		}
	})
}

// FuzzPathRoutes compares the paths that are found in a regular expression with what it matches.
func FuzzPathRoutes(f *testing.F) {
	for _, text := range []string{"^a$", "^(v1|v2)/s$", "^a/(.*)$", "^a(/.*)?$", "^[ab]c?$", "^a/([0-9]+)/?$", "(?i)^A$", "^a\\.b$", "^a/(?<rest>.+)$"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		routes, losses, err := pathRoutes(text)
		if err != nil || len(losses) > 0 || !strings.HasPrefix(text, "^") || strings.Contains(text, "(?") {
			return
		}
		e, err := regexp.Compile("(?s)" + text)
		if err != nil {
			t.Fatalf("%q is not understood: %v", text, err)
		}
		for _, r := range routes {
			path := r.path
			if r.isPrefix {
				path += "x"
			}
			if utf8.ValidString(path) && !e.MatchString(path) {
				t.Errorf("%q does not match %q", text, path)
			}
		}
	})
}
