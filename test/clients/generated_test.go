//go:build e2e

package clients

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// Programs whose clients are generated from the OpenAPI documents can call every operation, and what they get is as the documents say.
func TestGeneratedClients(t *testing.T) {
	t.Parallel()
	for language, run := range map[string]func(t *testing.T, a *apis){"Go": runGo, "TypeScript": runTypeScript} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			a := startAPIs(t)
			run(t, a)
			a.service.document.CheckAllSucceeded(t)
			a.admin.document.CheckAllSucceeded(t)
		})
	}
}

// apis are both interfaces of an urnd with all that their operations need.
type apis struct {
	service, admin *checkedAPI
	folder         string // that is served as file URLs
}

func startAPIs(t *testing.T) *apis {
	t.Helper()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	a := &apis{folder: testserver.OpenFolder(t)}
	if err := os.WriteFile(filepath.Join(a.folder, "note.txt"), []byte("a note\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := urndtest.NewRegistry(t).Start(t, func(c *config.Config) {
		c.Listen.PublicURL = "https://urn.example"
		c.Registry.Only = []string{"urn:", "ark:/12345/", "hdl:20.500.9/"}
		c.Registry.Handles = []config.Handle{{Prefix: "20.500.9"}}
		c.Access.BrowseClients, c.Access.SecurityContact = loopback, "mailto:a@a.example"
		c.Site.Sitemap = true
		c.File.Roots = []string{a.folder}
		c.Cache.Directory = t.TempDir() // for jobs
	})
	a.service = checkAPI(t, d.URL, "/api/v1/openapi.json")
	a.admin = checkAPI(t, d.Admin, "/openapi.json")
	return a
}

// checkedAPI passes requests on to an interface, and checks each response against its document.
type checkedAPI struct {
	url      string // at which it is asked
	text     []byte // of its document
	document *urndtest.OpenAPI
}

func checkAPI(t *testing.T, at, document string) *checkedAPI {
	t.Helper()
	text := fetch(t, at+document)
	a := &checkedAPI{text: text, document: urndtest.DescribeBy(t, text)}
	a.document.WellFormed(t)
	target, err := url.Parse(at)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, target.Host
			r.Out.Header.Del("Accept-Encoding")
		},
		Transport:      &http.Transport{DisableCompression: true},
		ModifyResponse: func(response *http.Response) error { return a.check(t, response) },
	})
	t.Cleanup(proxy.Close)
	a.url = proxy.URL
	return a
}

func fetch(t *testing.T, at string) []byte {
	t.Helper()
	response, err := http.Get(at)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", at, response.Status, err)
	}
	return text
}

// check reports what a response has that the document does not say.
func (a *checkedAPI) check(t *testing.T, response *http.Response) error {
	request := response.Request
	template, ok := a.document.Template(request.URL.EscapedPath())
	if !ok {
		t.Errorf("%s %s is not in the document", request.Method, request.URL)
		return nil
	}
	var body []byte
	if response.Header.Get("Content-Type") != "text/event-stream" { // which has no end
		var err error
		if body, err = io.ReadAll(response.Body); err != nil {
			return err
		}
		_ = response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	if err := a.document.Check(request.Method, template, response, body); err != nil {
		t.Errorf("%s %s: %v", request.Method, request.URL, err)
	}
	return nil
}

// runGo runs testdata/go, a module with oapi-codegen as its tool.
func runGo(t *testing.T, a *apis) {
	w := a.workspace(t, "testdata/go")
	for _, name := range []string{"service", "admin"} {
		if err := os.Mkdir(filepath.Join(string(w), name), 0o700); err != nil {
			t.Fatal(err)
		}
		w.run(t, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", name, "-o", filepath.Join(name, "client.go"), name+".json")
	}
	w.run(t, "go", "run", ".", a.service.url, a.admin.url, a.folder)
}

// runTypeScript runs testdata/typescript, whose types openapi-typescript makes.
func runTypeScript(t *testing.T, a *apis) {
	node := testserver.Need(t, "node")
	modules := testserver.NodeModules(t, "openapi-typescript", "openapi-fetch", "typescript")
	w := a.workspace(t, "testdata/typescript")
	if err := os.Symlink(modules, filepath.Join(string(w), "node_modules")); err != nil {
		t.Fatal(err)
	}
	w.run(t, node, "generate.js")
	w.run(t, node, filepath.Join(modules, "typescript", "bin", "tsc"), "-p", ".")
	w.run(t, node, "main.js", a.service.url, a.admin.url, a.folder)
}

// workspace is a folder with a program and the documents of both interfaces.
type workspace string

func (a *apis) workspace(t *testing.T, program string) workspace {
	t.Helper()
	dir := t.TempDir()
	err := os.CopyFS(dir, os.DirFS(program))
	for name, api := range map[string]*checkedAPI{"service.json": a.service, "admin.json": a.admin} {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), api.text, 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	return workspace(dir)
}

// run runs a command in the folder.
func (w workspace) run(t *testing.T, command string, arguments ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command, arguments...)
	c.Dir, c.Env = string(w), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", command, arguments, err, out)
	}
}
