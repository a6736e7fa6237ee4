package testserver

import (
	"strings"
	"testing"
)

func TestChromiumDOM(t *testing.T) {
	got := ChromiumDOM(t, "data:text/html,<p id=a></p><script>document.getElementById('a').textContent=40%2B2</script>")
	if !strings.Contains(got, "<p id=\"a\">42</p>") {
		t.Errorf("%s", got)
	}
}
