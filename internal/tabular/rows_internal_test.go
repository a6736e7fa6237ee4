package tabular

import (
	"fmt"
	"strings"
	"testing"
)

// shownRows returns the rows of a text, one per line, and the length of the rest.
func shownRows(text string) (string, int) {
	var b strings.Builder
	rows := newRows(text, 1, ',')
	for {
		r, err := rows.next()
		if err != nil {
			return b.String(), rows.end
		}
		if r.Err != nil {
			fmt.Fprintf(&b, "%d: %v\n", r.Line, r.Err)
			continue
		}
		fmt.Fprintf(&b, "%d: %q\n", r.Line, r.Cells)
	}
}

// TestRows checks that fields are read as written, also where encoding/csv fails or changes them.
func TestRows(t *testing.T) {
	after := errAfterQuote.Error()
	for _, c := range []struct {
		name, text, want string
		rest             int // bytes of an unterminated record
	}{
		{"empty lines", "\n\r\na\n\n\nb\n", "3: [\"a\"]\n6: [\"b\"]\n", 0},
		{"a line without an end", "a\nb,c", "1: [\"a\"]\n", 3},
		{"spaces", " a ,\tb\t,\" c \"\r\n", "1: [\"a\" \"b\" \" c \"]\n", 0},
		{"line ends within quotation marks", "\"a\r\n\rb\r\"\r\nc\n", "1: [\"a\\r\\n\\rb\\r\"]\n3: [\"c\"]\n", 0},
		{"marks within a field", "5\" disk,\"\",\" \"\"x\"\"\"\n", "1: [\"5\\\" disk\" \"\" \" \\\"x\\\"\"]\n", 0},
		{"marks within all fields", "a\",\"b\", c\"d\"\n", "1: [\"a\\\"\" \"b\" \"c\\\"d\\\"\"]\n", 0},
		{
			"a mark, and an empty field", "a\",\r\nb\",\nc\n",
			"1: [\"a\\\"\" \"\"]\n2: [\"b\\\"\" \"\"]\n3: [\"c\"]\n", 0,
		},
		{"a mark before lines", "a\",\"b\r\nc\",d\ne\n", "1: [\"a\\\"\" \"b\\r\\nc\" \"d\"]\n3: [\"e\"]\n", 0},
		{"a mark after lines", "\"b\r\nc\",\" d\",a\"\ne\n", "1: [\"b\\r\\nc\" \" d\" \"a\\\"\"]\n3: [\"e\"]\n", 0},
		{"text after a quoted field", "\"a\"b,c\nd\n", "1: " + after + "\n2: [\"d\"]\n", 0},
		{"text after it, before lines", "\"a\" ,\"b\nc\",d\ne\n", "1: " + after + "\n3: [\"e\"]\n", 0},
		{"no end", "a\n\nb,\"c\nd\n", "1: [\"a\"]\n", 7},
		{"no end after a mark", "a\nb\",\"c\nd\n", "1: [\"a\"]\n", 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, n := shownRows(c.text)
			if rest := len(c.text) - n; got != c.want || rest != c.rest {
				t.Errorf("%q was read as\n%sand %d bytes are left, want\n%sand %d", c.text, got, rest, c.want, c.rest)
			}
		})
	}
}

// TestMarks checks that the time for reading a record is bounded, whatever quotation marks it contains.
func TestMarks(t *testing.T) {
	got, _ := shownRows(strings.Repeat(`a"`+strings.Repeat(`b"`, 250)+",", MaxCells-1) + "\nb\n")
	if want := fmt.Sprintf("1: %v\n2: [\"b\"]\n", errMarks); got != want {
		t.Errorf("got %s", got)
	}
	r := NewReader(strings.NewReader("name,note\n"+
		strings.Repeat("\"a\","+strings.Repeat("x", 500)+",\"\n", MaxRecord/100)), ',')
	_, err := r.Header()
	for err == nil {
		_, err = r.Read()
	}
	if !strings.Contains(err.Error(), "not closed: too many such errors") {
		t.Errorf("got %v", err)
	}
}
