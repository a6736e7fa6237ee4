package answer_test

import (
	"encoding/json"
	"net/url"
	"testing"

	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/route"
)

// The document names the server by a relative URL, relative to the document (OpenAPI 3.1 section 4.8.5).
func TestServerOfOpenAPI(t *testing.T) {
	var d struct{ Servers []struct{ URL string } }
	if err := json.Unmarshal(answer.StaticDocuments()[route.PathOpenAPI].Reply(nil).Body, &d); err != nil ||
		len(d.Servers) != 1 {
		t.Fatalf("%v, %+v", err, d)
	}
	at, err := url.Parse("https://urnd.example:444/api/v1/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	if server, err := at.Parse(d.Servers[0].URL); err != nil || server.Host != at.Host || server.Scheme != at.Scheme ||
		server.Path != "/" {
		t.Errorf("the document names %s, %v", server, err)
	}
}
