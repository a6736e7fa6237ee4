package tabular_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/tabular"
)

func TestLines(t *testing.T) {
	long := strings.Repeat("x", tabular.MaxRecord)
	for _, c := range []struct {
		name, text string
		want       string // number, length and error of each line
	}{
		{"none", "", ""},
		{"without an end", "a\nbc", "1 1 <nil>;2 2 <nil>;"},
		{"empty lines and CRLF", "\r\n\nabc\r\n", "1 0 <nil>;2 0 <nil>;3 3 <nil>;"},
		{"the longest", long[1:] + "\na", "1 1048575 <nil>;2 1 <nil>;"},
		{"longer", long + "y\na", "1 1000 it has more than 1048576 bytes;2 1 <nil>;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines, got := tabular.NewLines(strings.NewReader(c.text)), ""
			row, err := lines.Read()
			for ; err == nil; row, err = lines.Read() {
				got += fmt.Sprintf("%d %d %v;", row.Line, len(row.Text), row.Err)
			}
			if got != c.want || !errors.Is(err, io.EOF) {
				t.Errorf("read %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestLinesReadIf(t *testing.T) {
	lines := tabular.NewLines(strings.NewReader("a1\na2\nb"))
	var got []string
	isA := func(row tabular.Row) bool { return row.Text[0] == 'a' }
	for row, ok, err := lines.ReadIf(isA); ok && err == nil; row, ok, err = lines.ReadIf(isA) {
		got = append(got, row.Text)
	}
	row, err := lines.Read()
	if strings.Join(got, " ") != "a1 a2" || err != nil || row.Text != "b" || row.Line != 3 {
		t.Errorf("read %q, and then line %d, %q, %v", got, row.Line, row.Text, err)
	}
	if _, ok, err := lines.ReadIf(isA); ok || err != nil {
		t.Errorf("after the end: %v, %v", ok, err)
	}
}
