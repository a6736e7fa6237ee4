package proxy_test

import (
	"encoding/json"
	"net/url"
	"testing"
)

// The documents name the server that they are asked at: a relative URL is relative to the document (OpenAPI 3.1 section 4.8.5).
func TestServerOfOpenAPI(t *testing.T) {
	service := text(t, start(t, nil).get(t, "/api/v1/openapi.json"))
	admin := text(t, adminRequest(newAdminHandler(&fakeCaches{}, nil), "127.0.0.1:1", "GET /openapi.json"))
	for at, document := range map[string]string{"https://urnd.example:444/api/v1/openapi.json": service, "http://127.0.0.1:8142/openapi.json": admin} {
		var d struct{ Servers []struct{ URL string } }
		if err := json.Unmarshal([]byte(document), &d); err != nil || len(d.Servers) != 1 {
			t.Fatalf("%v, %+v", err, d)
		}
		base, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		if server, err := base.Parse(d.Servers[0].URL); err != nil || server.Host != base.Host || server.Scheme != base.Scheme || server.Path != "/" {
			t.Errorf("the document at %s names %s, %v", at, server, err)
		}
	}
}
