package squidconf

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

// filesOf returns files in memory.
func filesOf(texts map[string]string) Files {
	return Files{
		Read: func(name string) ([]byte, error) {
			text, ok := texts[name]
			if !ok {
				return nil, fs.ErrNotExist
			}
			return []byte(text), nil
		},
		Glob: func(pattern string) (names []string, err error) {
			for name := range texts {
				ok, err := path.Match(pattern, name)
				if err != nil {
					return nil, err
				}
				if ok {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names, nil
		},
		CheckFormat: checkFormat,
	}
}

// Lines are parsed like Squid parses them.
func TestParse(t *testing.T) {
	texts := map[string]string{
		"/e/conf.d/a.conf": "a 1\n", "/e/conf.d/b.conf": "\ninclude ../c\n", "/e/c": "c",
		"/e/none": "",
	}
	for _, tt := range []struct{ text, want string }{
		{"a b  c\n", "squid.conf:1 a [b c]"},
		{"# x\n  a\tb # c\n", "squid.conf:2 a [b]"},
		{"a b#c", "squid.conf:1 a [b#c]"},
		{"a b \\\r\n c \\\n  d\ne", "squid.conf:1 a [b c d] squid.conf:4 e []"},
		{"a b\\\n  c", "squid.conf:1 a [bc]"},
		{"a b \\\n# x\n\n # y \\\n c", "squid.conf:1 a [b c]"},
		{"# a \\\nb", "squid.conf:2 b []"},
		{`a "b c" d`, "squid.conf:1 a [<b c> d]"},
		{`a "b\" d`, `squid.conf:1 a [<b\> d]`},
		{"include conf.d/*.conf\nd", "a.conf:1 a [1] c:1 c [] squid.conf:2 d []"},
		{"include /e/c \"c\"", "c:1 c [] c:1 c []"},
		{"include /none/*.conf", ""},
	} {
		texts["/e/squid.conf"] = tt.text
		directives, err := Parse(filesOf(texts), "/e/squid.conf")
		var got []string
		for _, d := range directives {
			var words []string
			for _, w := range d.Words {
				if w.Quoted {
					w.Text = "<" + w.Text + ">"
				}
				words = append(words, w.Text)
			}
			text := fmt.Sprint(d.Position, " ", d.Name, " ", words)
			got = append(got, text)
		}
		if all := strings.Join(got, " "); err != nil || all != tt.want {
			t.Errorf("%q: %s, want %s, %v", tt.text, all, tt.want, err)
		}
	}
}

// A line that Squid would reject is an error with its position and a correction.
func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"include squid.conf":              `/e/squid.conf:1: "include squid.conf": files include each other: the maximum is 16`,
		"\ninclude missing":               `/e/squid.conf:2: "include missing": cannot be read: file does not exist`,
		"include":                         `/e/squid.conf:1: "include": write the name of a file`,
		"include a[*":                     `/e/squid.conf:1: "include a[*": is not a pattern of files: syntax error in pattern`,
		"a\nif true\nendif":               `/e/squid.conf:2: "if true": values that depend on the process, and quoted values, are not converted: remove these lines`,
		`a "b`:                            `/e/squid.conf:1: "a \"b": a quoted word is not closed`,
		"acl x":                           `/e/squid.conf:1: "acl x": write acl, a name, a type and values`,
		"acl x src 1.2.3.4\nacl x dst ::": `/e/squid.conf:2: "acl x dst ::": the acl x is of type src in line squid.conf:1: write that, or another name`,
	} {
		files := filesOf(map[string]string{"/e/squid.conf": text})
		directives, err := Parse(files, "/e/squid.conf")
		if err == nil {
			_, err = ACLs(files, directives)
		}
		var parse *ParseError
		if !errors.As(err, &parse) || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := Parse(filesOf(nil), "/e/squid.conf"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// Several lines of an acl are alternatives; values may be in files, one per line.
func TestACLs(t *testing.T) {
	files := filesOf(map[string]string{"/e/list": "# c\n a b \t# e\n\nc#d\n", "/e/squid.conf": `
acl x dstdom_regex -i a +i b "list" "/e/list"
acl x dstdom_regex -n -- -i
acl CONNECT method CONNECT
acl y src "missing"
`})
	directives, err := Parse(files, "/e/squid.conf")
	if err != nil {
		t.Fatal(err)
	}
	all, err := ACLs(files, directives)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(all.Named("X").Items), "[{squid.conf:2 a  true} {squid.conf:2 b  false} "+
		"{squid.conf:2 a b /e/list false} {squid.conf:2 c#d /e/list false}"+
		" {squid.conf:2 a b /e/list false} {squid.conf:2 c#d /e/list false}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if all["y"].Unread == nil || len(all.Named("CONNECT").Items) != 2 || len(all["all"].Items) != 1 {
		t.Errorf("%v, %v, %v", all["y"], all.Named("CONNECT"), all["all"])
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		builtins, "a \"b\\\n c\" d#\n", "include *",
		"http_access deny !x y\nacl x src 1.2.3.4-5/8 ::/0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		files := filesOf(map[string]string{"/e/squid.conf": text})
		directives, err := Parse(files, "/e/squid.conf")
		if err != nil {
			return
		}
		for _, d := range directives {
			if d.Line < 1 || d.Line > strings.Count(text, "\n")+1 || d.Name == "" && len(d.Words) > 0 ||
				strings.ContainsAny(d.Name, " \t\n") {
				t.Errorf("%q: %+v", text, d)
			}
		}
		_, _ = ACLs(files, directives) // must not panic
	})
}
