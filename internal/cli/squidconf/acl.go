package squidconf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Item is a value of an acl.
type Item struct {
	At    Position // of the line, even if it names a file of values
	Value string
	// List is the file that has the value, "" for a value in the line itself.
	List string
	// AnyCase is true after -i: a regular expression is case-insensitive.
	AnyCase bool
}

// ACL is a named condition, merged from all lines with its name. It matches if one of its items does.
type ACL struct {
	Position // of its first line
	Name     string
	Type     string
	Items    []Item
	// Lines are the items of each line: for all-of, all items of one line must match.
	Lines [][]Item
	// Lists are the non-empty files of values that were read, including those with only comments. Empty are
	// the files without a byte.
	Lists, Empty []string
	// Unread is the error of reading a file of values; Items is then incomplete.
	Unread error
}

// builtins are the acls that Squid 5 and 6 define.
const builtins = `acl all src all
acl manager url_regex -i ^cache_object:// +i ^[^:]+://[^/]+/squid-internal-mgr/
acl localhost src 127.0.0.1/32 ::1
acl to_localhost dst 127.0.0.0/8 0.0.0.0/32 ::1/128 ::/128
acl to_linklocal dst 169.254.0.0/16 fe80::/10
acl CONNECT method CONNECT
`

// ACLSet maps names to acls. Squid compares names ASCII case-insensitively.
type ACLSet map[string]*ACL

// Named returns the acl with a name, nil if there is none.
func (s ACLSet) Named(name string) *ACL { return s[foldedName(name)] }

// foldedName returns a name with its ASCII letters in lower case. Other letters are case-sensitive.
func foldedName(name string) string {
	folded := []byte(name)
	for i, c := range folded {
		if 'A' <= c && c <= 'Z' {
			folded[i] += 'a' - 'A'
		}
	}
	return string(folded)
}

// ACLs returns the acls of a configuration, including built-in ones. Files of values are read by files.
func ACLs(files Files, directives []Directive) (ACLSet, error) {
	all := make(ACLSet)
	for _, line := range joinLines("built in", builtins) {
		if err := line.split(); err != nil {
			return nil, err
		}
		if err := addACL(files, all, line); err != nil {
			return nil, err
		}
	}
	for _, line := range directives {
		if line.Name != "acl" {
			continue
		}
		// Squid adds lines to its built-in acls. Configurations from before these existed may define them
		// with another type.
		if own := all.Named(line.argument(0)); own != nil && own.File == "built in" &&
			own.Type != strings.ToLower(line.argument(1)) {
			delete(all, foldedName(own.Name))
		}
		if err := addACL(files, all, line); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func addACL(files Files, all ACLSet, line Directive) error {
	if len(line.Words) < 2 {
		return &ParseError{line.Position, line.Text, "write acl, a name, a type and values", nil}
	}
	name, kind := line.Words[0].Text, strings.ToLower(line.Words[1].Text)
	a := all.Named(name)
	if a == nil {
		a = &ACL{Position: line.Position, Name: name, Type: kind}
		all[foldedName(name)] = a
	}
	if a.Type != kind {
		return &ParseError{
			line.Position, line.Text,
			fmt.Sprintf("the acl %s is of type %s in line %s: write that, or another name", name, a.Type, a.Position),
			nil,
		}
	}
	items := a.itemsOf(files, line)
	a.Items, a.Lines = append(a.Items, items...), append(a.Lines, items)
	return nil
}

// itemsOf returns the values of a line, and of the files that it names.
func (a *ACL) itemsOf(files Files, line Directive) (items []Item) {
	anyCase, options := false, true
	for _, word := range line.Words[2:] {
		plain := word.Text
		if word.Quoted {
			plain = ""
		}
		switch {
		case plain == "-i", plain == "+i":
			anyCase = plain == "-i"
		case options && plain == "--":
			options = false
		case options && len(items) == 0 && isOption(plain):
			// Options of dstdomain and dst concern DNS lookups, which urnd does not do here.
		case word.Quoted:
			list := word.Text
			if !filepath.IsAbs(list) {
				list = filepath.Join(filepath.Dir(line.File), list)
			}
			values, err := a.read(files, list)
			if err != nil {
				a.Unread = err
			}
			for _, value := range values {
				items = append(items, Item{line.Position, value, list, anyCase})
			}
		default:
			items = append(items, Item{line.Position, word.Text, "", anyCase})
		}
	}
	return items
}

// read returns the values of a file.
func (a *ACL) read(files Files, name string) ([]string, error) {
	text, err := files.Read(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case len(text) == 0:
		a.Empty = append(a.Empty, name)
	case !slices.Contains(a.Lists, name):
		a.Lists = append(a.Lists, name)
	}
	return listed(name, text)
}

func isOption(text string) bool {
	return text == "-n" || text == "-m" || strings.HasPrefix(text, "-m=") || text == "-s" || text == "-r" ||
		text == "-x"
}

// readList returns the lines of a file of values, without empty lines and comments.
func readList(files Files, name string) (values []string, err error) {
	text, err := files.Read(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return listed(name, text)
}

func listed(name string, text []byte) (values []string, err error) {
	if len(text) > maxSource {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxSource)
	}
	for line := range strings.Lines(string(text)) {
		for at := range line {
			if line[at] == '#' && (at == 0 || strings.ContainsRune(" \t", rune(line[at-1]))) {
				line = line[:at]
				break
			}
		}
		if line = strings.TrimSpace(line); line != "" {
			values = append(values, line)
		}
	}
	return values, nil
}
