package spreadsheet_test

import (
	"testing"

	"github.com/urnd/urnd/internal/spreadsheet"
)

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a": "a", "https://a.example/=1": "https://a.example/=1", "12": "12", "-12": "-12",
		"=1+1": "'=1+1", "+358 9": "'+358 9", "-x": "'-x", "@SUM(1)": "'@SUM(1)", "  =1": "'  =1", "\t=1": "'\t=1", "＝1": "'＝1",
	} {
		if got := spreadsheet.Cell(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
