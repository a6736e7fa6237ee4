package squidconf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits of the input. maxDepth is that of Squid.
const (
	maxDepth  = 16
	maxFiles  = 1000
	maxLines  = 1_000_000 // of all files together
	maxSource = 64 << 20  // bytes of one file
)

// Files has the functions that read files and check formats. All functions must be set.
type Files struct {
	Read func(name string) ([]byte, error)
	// Glob returns the sorted names of files that match a pattern of filepath.Match.
	Glob func(pattern string) ([]string, error)
	// CheckFormat returns the error in a format of log.access.
	CheckFormat func(format string) error
}

// Position is a line of a file.
type Position struct {
	File string
	Line int // one-based; the first one of continued lines
}

// String returns the position as "squid.conf:12", with only the last element of the path.
func (p Position) String() string { return filepath.Base(p.File) + ":" + strconv.Itoa(p.Line) }

// Word is a word of a line.
type Word struct {
	Text   string
	Quoted bool // in double quotes, which Text does not include
}

// Directive is a line of the configuration.
type Directive struct {
	Position
	Name  string
	Words []Word // the words after the name
	// Text is the complete line, including its continuations.
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

// ParseError is the error of a line that Squid would reject too.
type ParseError struct {
	Position
	Input, Message string
	Err            error // of reading a file; may be nil
}

// Error returns the position, the line and a correction.
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

// Parse reads a configuration and the files that it includes. Relative includes are relative to the directory
// of the including file. The error is a *ParseError, unless name itself is unreadable.
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
		return &ParseError{
			Position{name, 1},
			name,
			fmt.Sprintf("at most %d files of %d bytes are read: include fewer", maxFiles, maxSource), nil,
		}
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
			return &ParseError{
				line.Position, line.Text,
				"values that depend on the process, and quoted values, are not converted: remove these lines", nil,
			}
		default:
			p.read = append(p.read, line)
		}
	}
	return nil
}

func (p *parser) include(line Directive, depth int) error {
	fail := func(message string, err error) error { return &ParseError{line.Position, line.Text, message, err} }
	if depth+1 >= maxDepth {
		return fail(fmt.Sprintf("files include each other: the maximum is %d", maxDepth), nil)
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

// joinLines returns the lines without comments, joined where a trailing backslash continues them. Like in
// Squid, leading white space is ignored, and empty lines and comments neither end a continued line nor are
// continued themselves.
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

// split splits the text into words. A "#" at the beginning of a word starts a comment.
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
				return &ParseError{d.Position, d.Text, `a quoted word is not closed`, nil}
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
