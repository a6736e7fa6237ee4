package testserver

import "testing"

func TestFirefox(t *testing.T) {
	f := StartFirefox(t)
	f.Show(t, `data:text/html,<p id=a onclick="this.textContent=40%2B2">0</p>`)
	f.Click(t, "#a")
	var got string
	if f.Evaluate(t, "document.getElementById('a').textContent", &got); got != "42" {
		t.Errorf("%q", got)
	}
}
