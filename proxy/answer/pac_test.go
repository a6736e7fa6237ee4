package answer_test

import (
	"net/http"
	"testing"

	"github.com/urnd/urnd/proxy/answer"
)

// The program of the file is tested in test/formats, which runs it.
func TestPAC(t *testing.T) {
	file := answer.PAC{Proxies: []string{"proxy.example:8141"}}.Static().Reply(nil)
	if file.Status != http.StatusOK || file.ContentType != "application/x-ns-proxy-autoconfig" {
		t.Errorf("%d %s", file.Status, file.ContentType)
	}
	if (answer.PAC{Direct: []string{"a.example"}}).Static() != nil {
		t.Error("a file without proxies")
	}
}
