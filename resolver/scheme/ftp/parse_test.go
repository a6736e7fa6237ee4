package ftp

import (
	"bufio"
	"errors"
	"io"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// now is the time of the tests.
var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func at(year int, month time.Month, day, hour, minute int) time.Time {
	return time.Date(year, month, day, hour, minute, 0, 0, time.UTC)
}

func lists() map[string]entry {
	return map[string]entry{
		"-rw-r--r--   1 root  wheel  1234 Nov 20 10:11 a.txt": {
			name: "a.txt", kind: scheme.ItemFile, size: 1234,
			modified: at(2026, 11, 20, 10, 11),
		},
		"-rw-r--r--   1 root  1234 Dec  1 10:11 no group": {
			name: "no group", kind: scheme.ItemFile, size: 1234,
			modified: at(2025, 12, 1, 10, 11),
		},
		"-rw-r--r--+  1 root  wheel  1234 Jan 31  1999 acl": {
			name: "acl", kind: scheme.ItemFile, size: 1234,
			modified: at(1999, 1, 31, 0, 0),
		},
		"-rw-r--r--.  1 root  wheel  0 Nov 23 10:00 tomorrow, by zones": {
			name: "tomorrow, by zones",
			kind: scheme.ItemFile, size: 0, modified: at(2026,
				11, 23, 10, 0),
		},
		"-rw-r--r--   1 root  wheel  1 Feb 29 10:00 leap day": {
			name: "leap day", kind: scheme.ItemFile, size: 1,
			noTime: true,
		},
		"drwxr-xr-x   2 500 100 4096 Jun  1 2020 pub": {
			name: "pub", kind: scheme.ItemDirectory, size: 4096,
			modified: at(2020, 6, 1, 0, 0),
		},
		"drwxr-xr-x               folder        0 May 18  1996 netpresenz": {
			name: "netpresenz",
			kind: scheme.ItemDirectory, size: 0, modified: at(1996, 5,
				18, 0, 0),
		},
		"lrwxrwxrwx   1 root root 7 Jan  1  2000 a -> b -> c": {
			name: "a", kind: scheme.ItemLink, target: "b -> c",
			size: 7, modified: at(2000,
				1, 1, 0, 0),
		},
		"crw-rw-rw-   1 root root 1, 3 Jan  1  2000 null": {
			name: "null", kind: scheme.ItemOther,
			size: 3, modified: at(2000, 1, 1, 0, 0),
		},
		"-rw-r--r--   1 Jan 5 7 Mar  2 2001  two spaces ": {
			name: " two spaces ", kind: scheme.ItemFile,
			size: 7, modified: at(2001, 3, 2, 0, 0),
		},
		"-rw-r--r--   1 root root 7 2 Mar 2001 day first": {
			name: "day first", kind: scheme.ItemFile,
			size: 7, modified: at(2001, 3, 2, 0, 0),
		},
		"-rw-r--r--   1 root root 7 2001-03-02 04:05 iso": {
			name: "iso", kind: scheme.ItemFile, size: 7,
			modified: at(2001, 3, 2, 4, 5),
		},
		"d [R----F--] supervisor            512       Jan 16  2018 login": {
			name: "login", kind: scheme.ItemDirectory,
			size: 512, modified: at(2018, 1, 16, 0, 0),
		},
		"-r--------   0 user group     65222236 Feb 24 00:39 hosted.csv": {
			name: "hosted.csv", kind: scheme.ItemFile,
			size: 65222236, modified: at(2026,
				2, 24, 0, 39),
		},
		"12-07-98  06:19AM       <DIR>          a dir": {
			name: "a dir", kind: scheme.ItemDirectory, size: -1,
			modified: at(1998, 12, 7, 6, 19),
		},
		"12-07-2012  06:19PM            1,234 b.exe": {
			name: "b.exe", kind: scheme.ItemFile, size: 1234,
			modified: at(2012, 12, 7, 18, 19),
		},
		"2012-12-07  18:19                 5 c": {
			name: "c", kind: scheme.ItemFile, size: 5,
			modified: at(2012, 12, 7, 18, 19),
		},
		"12/07/12  06:19 PM                5 d": {
			name: "d", kind: scheme.ItemFile, size: 5,
			modified: at(2012, 12, 7, 18, 19),
		},
		"12-07-12  06:19PM    <JUNCTION> e": {
			name: "e", kind: scheme.ItemLink, size: -1,
			modified: at(2012, 12, 7, 18, 19),
		},
		"-rw-r--r-- 1 root root 99999999999999999999 Jan 1 2000 f": {
			name: "f", kind: scheme.ItemFile, size: -1,
			noSize: true, modified: at(2000, 1,
				1, 0, 0),
		},
		// ls in other languages, and with --full-time and --time-style.
		"-rw-r--r-- 1 ftp ftp 7 Mär 12 10:30 german": {
			name: "german", kind: scheme.ItemFile, size: 7,
			noTime: true,
		},
		"-rw-r--r-- 1 ftp ftp 7 12. Mär 2019 day first": {
			name: "day first", kind: scheme.ItemFile, size: 7,
			noTime: true,
		},
		"-rw-r--r-- 1 ftp ftp 7 M\xe4r 12  2019 latin": {
			name: "latin", kind: scheme.ItemFile, size: 7,
			noTime: true,
		},
		"drwxr-xr-x 2 500 100 2048  3月 12 10:30 日本 語": {
			name: "日本 語", kind: scheme.ItemDirectory, size: 2048,
			noTime: true,
		},
		"drwxr-xr-x 2 500 100 2000  3月 12日  2019年 a": {
			name: "a", kind: scheme.ItemDirectory, size: 2000,
			noTime: true,
		},
		"-rw-r--r-- 1 ftp ftp 7 3\xb7\xee12\xc6\xfc 10:30 euc": {
			name: "euc", kind: scheme.ItemFile, size: 7,
			noTime: true,
		},
		"-rw-r--r-- 1 ftp ftp 7  3 12 10:30 bsd": {
			name: "bsd", kind: scheme.ItemFile, size: 7,
			noTime: true,
		},
		"-rw-r--r-- 1 ftp ftp 7 2019-03-12 10:30:05.123456789 +0100 full": {
			name: "full", kind: scheme.ItemFile,
			size: 7, modified: time.Date(2019, 3,
				12, 9, 30, 5, 123456789, time.UTC),
		},
		"-rw-r--r-- 1 ftp ftp 7 03-12 10:30 short iso": {
			name: "short iso", kind: scheme.ItemFile,
			size: 7, noTime: true,
		},
		"-rw-r--r-- 1 ftp ftp 7 2019-03-12  old iso": {
			name: "old iso", kind: scheme.ItemFile, size: 7,
			modified: at(2019, 3, 12, 0, 0),
		},
		"-rw-r--r-- 1 ftp ftp 9223372036854775808 12. Mär 2019 both": {
			name: "both", kind: scheme.ItemFile, size: -1,
			noSize: true, noTime: true,
		},
		"lrwxrwxrwx 1 ftp ftp 7 Mär 12 2019 a -> b": {
			name: "a", kind: scheme.ItemLink, target: "b",
			size: 7, noTime: true,
		},
		"- [RWCEAFMS] supervisor            512 Jan 16  2018    spaces  before": {
			name: "spaces  before", kind: scheme.ItemFile, size: 512,
			modified: at(2018, 1, 16, 0, 0),
		},
		"d[R----F--] supervisor  512 Jan 16  2018    no space": {
			name: "no space", kind: scheme.ItemDirectory, size: 512,
			modified: at(2018, 1, 16, 0, 0),
		},
		"12.07.2012  18:19                 5 german": {
			name: "german", kind: scheme.ItemFile, size: 5,
			modified: at(2012, 7, 12, 18, 19),
		},
		"31-12-12  18:19       <DIR>         day first": {
			name: "day first", kind: scheme.ItemDirectory, size: -1,
			noTime: true,
		},
		"12-07-12  06:19PM  99999999999999999999 g": {
			name: "g", kind: scheme.ItemFile, size: -1, noSize: true,
			modified: at(2012, 12, 7, 18, 19),
		},
		"12-07-12  06:19PM  word g":              {},
		"-rw-r--r-- 1 root root 7 Jan 1 2000 ":   {},
		"-rw-r--r-- 1 root root 7 Foo 1 2000 g":  {name: "g", kind: scheme.ItemFile, size: 7, noTime: true},
		"-rw-r--r-- 1 root root 7 Foo 41 2000 g": {},
		"hello":                                  {},
	}
}

// TestList has lines of real servers: RFC 959 section 4.1.3 does not define their format.
func TestList(t *testing.T) {
	for line, want := range lists() {
		got, skip, ok := parseList(line, now)
		if !reflect.DeepEqual(got, want) || skip || ok != (want != entry{}) {
			t.Errorf("%q is %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"total 12", "Total 0", "", "  "} {
		if _, skip, ok := parseList(line, now); !skip || !ok {
			t.Errorf("%q is not a line without a name", line)
		}
	}
}

func facts() map[string]entry {
	return map[string]entry{
		"type=file;size=25730;modify=19940728095854; cap60.pl198.tar.gz": {
			name: "cap60.pl198.tar.gz", kind: scheme.ItemFile, size: 25730,
			modified: time.Date(1994, 7, 28, 9, 58, 54, 0, time.UTC),
		},
		"Type=dir;Modify=19990219183438.25;Perm=el; pub": {
			name: "pub", kind: scheme.ItemDirectory, size: -1,
			modified: time.Date(1999, 2,
				19, 18, 34, 38, 250_000_000, time.UTC),
		},
		"type=OS.unix=slink:/foobar;size=2; link": {
			name: "link", kind: scheme.ItemLink, target: "/foobar",
			size: 2,
		},
		"type=OS.unix=chr-13/29;size=x;modify=y; device": {
			name: "device", kind: scheme.ItemOther, size: -1,
			noSize: true, noTime: true,
		},
		"type=OS.unix=slink:sub dir/a b;size=2; link": {
			name: "link", kind: scheme.ItemLink,
			target: "sub dir/a b", size: 2,
		},
		"type=file;size=99999999999999999999;modify=Mär; a; b": {
			name: "a; b", kind: scheme.ItemFile, size: -1,
			noSize: true, noTime: true,
		},
		" only a name":                   {name: "only a name", kind: scheme.ItemOther, size: -1},
		"TYPE=FILE;SIZE=-1;=;;  leading": {name: " leading", kind: scheme.ItemFile, size: -1, noSize: true},
		"type=file;size=1 no-semicolon":  {},
		"nothing":                        {},
		"":                               {},
	}
}

// TestMLSD has the examples of RFC 3659 section 7.7, and malformed lines.
func TestMLSD(t *testing.T) {
	for line, want := range facts() {
		got, skip, ok := parseMLSD(line)
		if !reflect.DeepEqual(got, want) || skip || ok != (want != entry{}) {
			t.Errorf("%q is %+v, %v, want %+v", line, got, ok, want)
		}
	}
	for _, line := range []string{"type=cdir; /pub", "Type=pdir; ..", "type=cdir;modify=19990219183438; ."} {
		if _, skip, ok := parseMLSD(line); !skip || !ok {
			t.Errorf("%q is not the directory itself", line)
		}
	}
}

func TestLimits(t *testing.T) {
	limits := scheme.Limits{Entries: 2, Bytes: 200, Line: 64}
	for text, want := range map[string]listed{
		" a\r\n b\n":                         {entries: make([]entry, 2)},
		" a\r\n b":                           {entries: make([]entry, 2)},
		" a\n b\n c\n":                       {entries: make([]entry, 2), incomplete: "the listing exceeds 2 entries"},
		" .\n ..\n a/b\n\nx\n a\n":           {entries: make([]entry, 1), unknown: 3},
		" " + strings.Repeat("a", 100):       {incomplete: "a line exceeds 64 bytes"},
		strings.Repeat("type=cdir; x\n", 20): {incomplete: "the listing exceeds 200 bytes"},
		"":                                   {},
	} {
		got, err := readLines(strings.NewReader(text), limits, parseMLSD)
		if err != nil || len(got.entries) != len(want.entries) || got.unknown != want.unknown ||
			got.incomplete != want.incomplete {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	if _, err := readLines(io.MultiReader(strings.NewReader(" a\n"), failing{}), limits,
		parseMLSD); !errors.Is(err, errTest) {
		t.Errorf("a listing that breaks off: %v", err)
	}
}

var errTest = errors.New("broken")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errTest }

func TestReply(t *testing.T) {
	for text, want := range map[string]reply{
		"220 ready\r\n": {code: 220, lines: []string{"ready"}},
		"220\r\n":       {code: 220, lines: []string{""}},
		"220 \n":        {code: 220, lines: []string{""}},
		"211-a\r\n b\r\n  211 c\r\n220 d\r\n211-e\r\n211 f\r\n": {
			code:  211,
			lines: []string{"a", " b", "  211 c", "220 d", "e", "f"},
		},
		"x\r\n":       {},
		"099 x\r\n":   {},
		"700 x\r\n":   {},
		"2200 x\r\n":  {},
		"220 cut":     {},
		"220-cut\r\n": {},
		"220 " + strings.Repeat("a", 100) + "\r\n":           {},
		strings.Repeat("220-aaaaaaaa\r\n", 10) + "220 b\r\n": {},
		"": {},
	} {
		got, err := readReply(bufio.NewReaderSize(strings.NewReader(text), 64), "")
		if !reflect.DeepEqual(got, want) || (err == nil) != (want.code != 0) {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
	}
}

// TestQuoted has replies to PWD: RFC 959 appendix II.
func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		`"/a" is it`: "/a", `"/a""b"`: `/a"b`, `"/a`: "", `/a`: "", `""`: "", `is "/a b" now`: "/a b", `"""a"`: `"a`,
	} {
		if got := quoted(text); got != want {
			t.Errorf("%q names %q, want %q", text, got, want)
		}
	}
}

func FuzzList(f *testing.F) {
	for line := range lists() {
		f.Add(line)
	}
	for line := range facts() {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits := scheme.Limits{Entries: 3, Bytes: 1 << 10, Line: 128}
		for name, parse := range map[string]func(string) (entry, bool, bool){
			"MLSD": parseMLSD, "NLST": parseName,
			"LIST": func(line string) (entry, bool, bool) { return parseList(line, now) },
		} {
			found, err := readLines(strings.NewReader(text), limits, parse)
			if err != nil || len(found.entries) > limits.Entries {
				t.Fatalf("%s: %d entries, %v", name, len(found.entries), err)
			}
			sortEntries(found.entries)
			for _, e := range found.entries {
				item := e.item("ftp://a.example/")
				decoded, err := url.PathUnescape(strings.TrimSuffix(strings.TrimPrefix(item.URI, "ftp://a.example/"),
					"/"))
				if err != nil || decoded != e.name || item.Name != scheme.DecodeText(item.Name) ||
					item.Size != nil && *item.Size < 0 {
					t.Errorf("%s: %q has the URI %q of %q, %v", name, e.name, item.URI, decoded, err)
				}
			}
		}
	})
}

func FuzzReply(f *testing.F) {
	for _, text := range []string{
		"220 ready\r\n", "211-a\r\n AUTH TLS\r\n MLST x;\r\n211 b\r\n", "229 (|||5001|)\r\n",
		"227 (1,2,3,4,19,137)\r\n", "257 \"/a\"\"b\" is it\r\n", "227 1,2,3,4,5,6\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := readReply(bufio.NewReaderSize(strings.NewReader(text), 128), "")
		if err != nil {
			return
		}
		if r.code < 100 || len(r.lines) == 0 || strings.Contains(strings.Join(r.lines, ""), "\n") {
			t.Fatalf("%q is %+v", text, r)
		}
		parseFeatures(r)
		for _, line := range r.message() {
			if line != scheme.DecodeText(line) {
				t.Errorf("the message is %q", line)
			}
		}
		for _, parse := range []func(string) (uint16, error){extendedPort, passivePort} {
			if port, err := parse(r.last()); err == nil && port < leastDataPort {
				t.Errorf("%q leads to port %d", r.last(), port)
			}
		}
		if home := quoted(r.last()); strings.Contains(home, "\n") || len(home) > len(text) {
			t.Errorf("%q names %q", r.last(), home)
		}
	})
}
