package squidconf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is read. The depth is that of Squid.
const (
	maxDepth  = 16
	maxFiles  = 1000
	maxLines  = 1_000_000 // of all files together
	maxSource = 64 << 20  // bytes of one file
)

// Files is how files are read, and what else is asked. All functions must be set.
type Files struct {
	Read func(name string) ([]byte, error)
	// Glob returns the names that a pattern of filepath.Match has, sorted.
	Glob func(pattern string) ([]string, error)
	// CheckFormat returns what is wrong with a format of log.access.
	CheckFormat func(format string) error
}

// Position is a line of a file.
type Position struct {
	File string
	Line int // from 1; of lines that are continued, the first one
}

// String returns the position as "squid.conf:12", with the last element of the path alone.
func (p Position) String() string { return filepath.Base(p.File) + ":" + strconv.Itoa(p.Line) }

// Word is a part of a line.
type Word struct {
	Text   string
	Quoted bool // it was written in double quotes, which Text has not
}

// Directive is a line of the configuration.
type Directive struct {
	Position
	Name  string
	Words []Word // what follows the name
	// Text is the whole line, with the lines that continue it.
	Text string
}

// Arguments returns the texts of the words.
func (d Directive) Arguments() []string {
	texts := make([]string, len(d.Words))
	for i, word := range d.Words {
		texts[i] = word.Text
	}
	return texts
}

// ParseError is a line that Squid would not read either.
type ParseError struct {
	Position
	Input, Message string
	Err            error // of reading a file; may be nil
}

// Error returns the position, the line and what to write instead.
func (e *ParseError) Error() string {
	text := fmt.Sprintf("%s:%d: %q: %s", e.File, e.Line, e.Input, e.Message)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the error of reading a file.
func (e *ParseError) Unwrap() error { return e.Err }

type parser struct {
	files Files
	open  int // files read
	lines int
	read  []Directive
}

// Parse reads a configuration and what it includes. An include that is relative is below the folder of the file that names it. The
// error is a *ParseError, but for name itself, which cannot be read.
func Parse(files Files, name string) ([]Directive, error) {
	text, err := files.Read(name)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	p := &parser{files: files}
	if err := p.file(name, text, 0); err != nil {
		return nil, err
	}
	return p.read, nil
}

func (p *parser) file(name string, text []byte, depth int) error {
	if p.open++; p.open > maxFiles || len(text) > maxSource {
		return &ParseError{Position{name, 1}, name, fmt.Sprintf("at most %d files of %d bytes are read: include fewer", maxFiles, maxSource), nil}
	}
	for _, line := range joinLines(name, string(text)) {
		if p.lines++; p.lines > maxLines {
			return &ParseError{line.Position, line.Text, fmt.Sprintf("at most %d lines are read", maxLines), nil}
		}
		if err := line.split(); err != nil {
			return err
		}
		switch line.Name {
		case "include":
			if err := p.include(line, depth); err != nil {
				return err
			}
		case "if", "else", "endif", "configuration_includes_quoted_values":
			return &ParseError{line.Position, line.Text, "what depends on the process, and quoted values, are not converted: remove these lines", nil}
		default:
			p.read = append(p.read, line)
		}
	}
	return nil
}

func (p *parser) include(line Directive, depth int) error {
	fail := func(message string, err error) error { return &ParseError{line.Position, line.Text, message, err} }
	if depth+1 >= maxDepth {
		return fail(fmt.Sprintf("files include each other: at most %d may", maxDepth), nil)
	}
	if len(line.Words) == 0 {
		return fail("write the name of a file", nil)
	}
	for _, pattern := range line.Arguments() {
		if !filepath.IsAbs(pattern) {
			pattern = filepath.Join(filepath.Dir(line.File), pattern)
		}
		names := []string{pattern}
		if strings.ContainsAny(pattern, "*?[") {
			var err error
			if names, err = p.files.Glob(pattern); err != nil {
				return fail("is not a pattern of files", err)
			}
		}
		for _, name := range names {
			text, err := p.files.Read(name)
			if err != nil {
				return fail("cannot be read", err)
			}
			if err := p.file(name, text, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// joinLines returns the lines that are no comments, joined where a backslash at the end continues them. As in Squid, white space at the
// beginning of a line does not count, and neither empty lines nor comments end a line that is continued, or are continued themselves.
func joinLines(name, text string) (all []Directive) {
	var continued bool
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t")
		if line == "" || line[0] == '#' {
			continue
		}
		line, continues := strings.CutSuffix(line, `\`)
		if continued {
			all[len(all)-1].Text += line
		} else {
			all = append(all, Directive{Position: Position{name, number}, Text: line})
		}
		continued = continues
	}
	return slices.DeleteFunc(all, func(d Directive) bool { return strings.TrimSpace(d.Text) == "" })
}

// split makes words of the text. A "#" at the beginning of a word begins a comment.
func (d *Directive) split() error {
	d.Text = strings.TrimSpace(d.Text)
	rest := d.Text
	for first := true; ; first = false {
		if rest = strings.TrimLeft(rest, " \t\v\f"); rest == "" || rest[0] == '#' && !first {
			return nil
		}
		if rest[0] == '"' && !first {
			text, behind, ok := strings.Cut(rest[1:], `"`)
			if !ok {
				return &ParseError{d.Position, d.Text, `a word has no quotation mark at its end: write one`, nil}
			}
			d.Words, rest = append(d.Words, Word{text, true}), behind
			continue
		}
		end := strings.IndexAny(rest, " \t\v\f")
		if end < 0 {
			end = len(rest)
		}
		if word := rest[:end]; first {
			d.Name = word
		} else {
			d.Words = append(d.Words, Word{Text: word})
		}
		rest = rest[end:]
	}
}
