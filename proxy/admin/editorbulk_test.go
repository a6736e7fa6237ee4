package admin_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/token"
)

// A token is shown once, in the response to the form that creates it, and nowhere else.
func TestTokensByForm(t *testing.T) {
	s := newSite(t, locked)
	b := s.person(t, token.Token{Name: "rooted", Role: registry.Admin, Prefixes: []string{"urn:nbn:fi:"}})
	page := b.open("/registry/tokens", nil)
	wantText(t, page, 200, "rooted (yours)", "Create a token")
	field := csrf(t, page)
	w := b.open("/registry/tokens", url.Values{
		"csrf": {field}, "name": {"<i>scanner</i>"}, "role": {"writer"},
		"prefixes": {"urn:nbn:fi:scan-\r\n\r\n urn:nbn:fi:map- \r\n"}, "action": {"mint", "change"},
		"expires": {"2999-12-31"}, "note": {"for the scanner"},
	})
	secret := regexp.MustCompile(`urnd_[0-9a-f]{16}_[\w-]{43}`).FindString(w.Body.String())
	if secret != "" || w.Code != 303 {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	shown := w.Header().Get("Location")
	w = b.open(shown, nil)
	secret = regexp.MustCompile(`urnd_[0-9a-f]{16}_[\w-]{43}`).FindString(w.Body.String())
	if w.Code != 200 || secret == "" || w.Header().Get("Cache-Control") != "no-store" ||
		strings.Contains(w.Body.String(), "<i>scanner") {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	actor, err := token.NewVerifier(s.registry).Verify(t.Context(), secret, false)
	if err != nil || actor.Role != registry.Writer || len(actor.Prefixes) != 2 || len(actor.Actions) != 2 {
		t.Errorf("%+v, %v", actor, err)
	}
	page = b.open(shown, nil)
	wantText(t, page, 200, "<i>scanner</i>", "writer: mint, change", "urn:nbn:fi:map-", "3000-01-01 00:00:00 UTC",
		"for the scanner")
	if strings.Contains(page.Body.String(), secret) {
		t.Error("the secret is shown again")
	}
	for _, tt := range []struct {
		form   url.Values
		status int
		want   string
	}{
		{url.Values{"name": {""}, "role": {"reader"}, "prefixes": {"urn:nbn:fi:"}}, 422, "A token has a name"},
		{url.Values{"name": {"x"}, "role": {"king"}, "prefixes": {"urn:nbn:fi:"}}, 422, "king"},
		{url.Values{"name": {"x"}, "role": {"reader"}, "prefixes": {"urn:nbn:fi:"}, "action": {"fly"}}, 422, "fly"},
		{
			url.Values{"name": {"x"}, "role": {"reader"}, "prefixes": {"urn:nbn:fi:"}, "expires": {"tomorrow"}},
			422,
			"as 2031-05-01",
		},
		{
			url.Values{"name": {"x"}, "role": {"reader"}, "prefixes": {"urn:nbn:fi:"}, "expires": {"1999-01-01"}},
			422,
			"expired already",
		},
		{url.Values{"name": {"all names"}, "role": {"reader"}}, 403, "may not give what it may not do itself"},
	} {
		tt.form.Set("csrf", field)
		w := b.open("/registry/tokens", tt.form)
		wantText(t, w, tt.status, tt.want)
		if name := tt.form.Get("name"); !strings.Contains(w.Body.String(), `name="name" value="`+name+`"`) {
			t.Errorf("the input was lost: %s", w.Body)
		}
	}
	at := "/registry/tokens/" + actor.Token + "/revoke"
	ask := b.open(at, nil)
	wantText(t, ask, 200, "scanner", "cannot be undone")
	if _, err := token.NewVerifier(s.registry).Verify(t.Context(), secret, true); err != nil {
		t.Errorf("asking has revoked it: %v", err)
	}
	if w := b.open(at, url.Values{}); w.Code != 403 {
		t.Errorf("without the field of forms: %d", w.Code)
	}
	w = b.open(at, url.Values{"csrf": {csrf(t, ask)}})
	wantText(t, b.open(w.Header().Get("Location"), nil), 200, "was revoked")
	if _, err := token.NewVerifier(s.registry).Verify(t.Context(), secret, true); err == nil {
		t.Error("it was not revoked")
	}
	if w := b.open("/registry/tokens/0123456789abcdef/revoke", nil); w.Code != 404 {
		t.Errorf("a token that there is not: %d", w.Code)
	}
	german := b.open("/registry/tokens?lang=de", nil)
	wantText(t, german, 200, "rooted (Ihres) Verwalten", "Verwalten: ändert auch Präfixe",
		"zurückziehen einzelne Namen", "Tokens erstellen und widerrufen")
	if reported := german.Body.String(); strings.Contains(reported, ">writer") ||
		strings.Contains(reported, "tokens.") {
		t.Errorf("roles in German: %s", reported)
	}
}

// The second request of a double click does not deny that the token is revoked.
func TestRevokedTwice(t *testing.T) {
	s := newSite(t, locked)
	b := s.person(t, token.Token{Name: "chief", Role: registry.Admin})
	s.person(t, token.Token{Name: "leaving", Role: registry.Reader})
	list := testserver.ParseHTML(b.open("/registry/tokens", nil).Body.String())
	at := regexp.MustCompile(`/registry/tokens/[0-9a-f]+/revoke`)
	for _, row := range list.All("tr") {
		if link := row.First("a"); strings.Contains(row.Text(), "leaving") && at.MatchString(link.Attr("href")) {
			form := url.Values{"csrf": {csrf(t, b.open(link.Attr("href"), nil))}}
			for range 2 {
				if w := b.open(link.Attr("href"), form); w.Code != 303 {
					t.Errorf("%d %s", w.Code, textOf(w))
				}
			}
			wantText(t, b.open("/registry/tokens", nil), 200, "chief")
			return
		}
	}
	t.Fatal("no token to revoke")
}

// The only copy of a token is not lost to a page that fails, or is not shown.
func TestTokenAfterAFailure(t *testing.T) {
	s := newSite(t, locked)
	b := s.person(t, token.Token{Name: "chief", Role: registry.Admin})
	w := b.open("/registry/tokens", url.Values{
		"csrf": {csrf(t, b.open("/registry/tokens", nil))}, "name": {"scanner"}, "role": {"reader"},
	})
	shown := w.Header().Get("Location")
	if w.Code != 303 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	b.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Method = http.MethodHead
		s.ServeHTTP(w, r)
	})
	if w = b.open(shown, nil); w.Code != 200 {
		t.Errorf("HEAD: %d", w.Code)
	}
	b.Handler = s
	_, done, _ := strings.Cut(shown, "?")
	if w = b.open("/registry/name?uri=urn:nbn:fi:unknown&"+done, nil); w.Code != 404 {
		t.Errorf("a page that fails: %d", w.Code)
	}
	wantText(t, b.open(shown, nil), 200, "The token of scanner")
}

// Actions that a token does not permit are neither offered nor accepted.
func TestRightsOnPages(t *testing.T) {
	s := newJobSite(t)
	all := []string{"import", "jobs", "prefixes", "targets", "targets/move", "statistics", "tokens"}
	for _, tt := range []struct {
		of  token.Token
		may string
	}{
		{token.Token{Name: "reader", Role: registry.Reader}, "jobs prefixes targets statistics"},
		{token.Token{Name: "writer", Role: registry.Writer}, "import jobs prefixes targets targets/move statistics"},
		{
			token.Token{Name: "some", Role: registry.Writer, Prefixes: []string{"urn:nbn:fi:a", "urn:nbn:fi:b"}},
			"import jobs prefixes targets targets/move statistics",
		},
		{token.Token{
			Name: "minter", Role: registry.Writer,
			Actions: []registry.Action{registry.ActRead, registry.ActMint},
		}, "jobs prefixes targets statistics"},
		{token.Token{Name: "all", Role: registry.Admin}, strings.Join(all, " ")},
		{
			token.Token{Name: "no tokens", Role: registry.Admin, Actions: []registry.Action{registry.ActRead}},
			"jobs prefixes targets statistics",
		},
	} {
		b := s.person(t, tt.of)
		nav := b.open("/registry/statistics", nil).Body.String() + b.open("/registry/jobs", nil).Body.String()
		for _, page := range all {
			may := strings.Contains(" "+tt.may+" ", " "+page+" ")
			w := b.open("/registry/"+page, nil)
			if is := w.Code == 200; is != may || w.Code != 200 && w.Code != 403 {
				t.Errorf("%s, %s: %d %.500s", tt.of.Name, page, w.Code, textOf(w))
			}
			if page != "targets/move" && strings.Contains(nav, `href="/registry/`+page+`"`) != may {
				t.Errorf("%s: %s is offered, or not: %v", tt.of.Name, page, !may)
			}
			if w.Body.Len() > 30<<10 {
				t.Errorf("%s has %d bytes", page, w.Body.Len())
			}
		}
	}
}

// Without jobs, their pages do not exist.
func TestPagesWithoutJobs(t *testing.T) {
	s := newSite(t, nil)
	putHealth(t, s.registry.Store(), 1, "unhealthy", "http://old.example/")
	b := newBrowser(s, here)
	page := b.open("/registry/targets", nil)
	wantText(t, page, 200, "http://old.example/0", "Edit")
	for _, path := range []string{"/registry/import", "/registry/jobs", "/registry/targets/move"} {
		if strings.Contains(page.Body.String(), path) || b.open(path, nil).Code != 404 {
			t.Errorf("%s is there", path)
		}
	}
}

func TestPrefixesOnPage(t *testing.T) {
	s := newSite(t, nil)
	for _, prefix := range []string{"urn:nbn:fi:a-", "urn:nbn:fi:b-"} {
		body := `{"prefix":true,"targets":[{"uri":"https://` + "a.example/{+suffix}" +
			`"}],"pattern":"[0-9]+","contact":"<b>owner</b>"}`
		if r := s.ask("PUT "+of(prefixes, prefix), body); r.status != 201 {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	b := newBrowser(s, here)
	page := b.open("/registry/prefixes", nil)
	wantText(t, page, 200, "urn:nbn:fi:a-", "urn:nbn:fi:b-", "[0-9]+", "<b>owner</b>")
	if !strings.Contains(page.Body.String(), `href="/registry/edit?uri=urn%3anbn%3afi%3aa-&amp;kind=prefix"`) {
		t.Errorf("no link to edit it: %s", page.Body)
	}
	for _, target := range []string{
		"/registry/edit?uri=urn%3anbn%3afi%3aa-&kind=prefix", "/registry/edit?kind=prefix",
		"/registry/names?prefix=urn%3anbn%3afi%3aa-",
	} {
		if w := b.open(target, nil); w.Code != 200 {
			t.Errorf("%s: %d", target, w.Code)
		}
	}
	page = b.open("/registry/prefixes?prefix=urn:nbn:fi:b", nil)
	if text := textOf(page); strings.Contains(text, "urn:nbn:fi:a-") || !strings.Contains(text, "urn:nbn:fi:b-") {
		t.Errorf("%s", text)
	}
	wantText(t, b.open("/registry/prefixes?text=nowhere", nil), 200, "There is none")
}

// A waiting job is cancelled on its page. The page of an unfinished job has a script, and shows the same
// without it.
func TestJobOnPage(t *testing.T) {
	s, _ := newIdleJobSite(t, locked)
	b := s.editor(t)
	at := b.send(t, "a.csv", "name,target\nurn:nbn:fi:a,https://a.example/1\n")
	fields := form(t, b.open(at, nil))
	fields.Set("do", "check")
	job := b.open(at, fields).Header().Get("Location")
	page := b.open(job, nil)
	wantText(t, page, 200, "queued", "Reload to update the progress", "Cancel the job")
	if e := testserver.ParseHTML(page.Body.String()); !e.First("script", "src=/registry/jobs.js", "defer").Exists() ||
		!e.First("progress", "aria-label").Exists() {
		t.Errorf("%s", page.Body)
	}
	if w := b.open(job, url.Values{}); w.Code != 403 {
		t.Errorf("it is cancelled by a form without a session: %d", w.Code)
	}
	other := s.person(t, token.Token{Name: "bo", Role: registry.Writer})
	for _, w := range []int{
		other.open(job, nil).Code,
		other.open(job, url.Values{"csrf": {csrf(t, other.open("/registry/import", nil))}}).Code,
	} {
		if w != 404 {
			t.Errorf("the job of another one: %d", w)
		}
	}
	shown := ""
	for range 2 { // a second click has the same result
		w := b.open(job, url.Values{"csrf": {csrf(t, page)}})
		if w.Code != 303 || !strings.HasPrefix(w.Header().Get("Location"), job) {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		shown = w.Header().Get("Location")
	}
	ended := b.open(shown, nil)
	wantText(t, ended, 200, "The job is being cancelled", "The data of this dry run")
	if strings.Contains(ended.Body.String(), "jobs.js") || strings.Contains(ended.Body.String(), "Cancel the job") {
		t.Error("a job that has ended is followed")
	}
	script := b.open("/registry/jobs.js", nil)
	if script.Code != 200 || script.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("the script: %d %v", script.Code, script.Header())
	}
	wantText(t, b.open("/registry/jobs/20310501T120000-0123456789abcdef", nil), 404, "")
}

// The targets on a server that has moved are moved in all names, as other names were recently, after a dry
// run.
func TestMoveByForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJobSite(t)
		for _, name := range []string{"a", "b", "c", "d"} {
			s.has(t, "urn:nbn:fi:"+name, "http://old.example/items/"+name)
		}
		s.has(t, "urn:nbn:fi:a", "https://new.example/objects/a", "urn:nbn:fi:b", "https://new.example/objects/b")
		b := s.editor(t)
		page := b.open("/registry/targets/move?replace="+url.QueryEscape("http://old.example/"), nil)
		wantText(t, page, 200, "the same server over TLS", "http://old.example/items/ → https://new.example/objects/",
			"2 names were moved this way recently")
		suggestions := slices.DeleteFunc(testserver.ParseHTML(page.Body.String()).All("a"),
			func(a testserver.Element) bool {
				return !strings.HasPrefix(a.Attr("href"), "/registry/targets/move?") ||
					!strings.Contains(a.Attr("href"), "objects")
			})
		if len(suggestions) == 0 {
			t.Fatalf("no suggestion: %s", page.Body)
		}
		page = b.open(suggestions[0].Attr("href"), nil)
		for _, field := range [][2]string{
			{"replace", "http://old.example/items/"},
			{"with", "https://new.example/objects/"},
		} {
			if input := testserver.ParseHTML(page.Body.String()).First("input",
				"name="+field[0]); input.Attr("value") != field[1] {
				t.Errorf("%s is %q, want %q", field[0], input.Attr("value"), field[1])
			}
		}
		field := csrf(t, page)
		w := b.open("/registry/targets/move", url.Values{
			"csrf": {field}, "prefix": {"urn:nbn:fi:"}, "replace": {"http://old.example/items/"},
			"with": {"https://new.example/objects/"}, "note": {"the server has moved"},
		})
		dry := w.Header().Get("Location")
		if w.Code != 303 || !strings.HasPrefix(dry, "/registry/jobs/") {
			t.Fatalf("%d %s", w.Code, textOf(w))
		}
		time.Sleep(time.Minute)
		page = b.open(dry, nil)
		wantText(t, page, 200, "Dry run of moving targets", "changed 2", "https://new.example/objects/c", "Move now")
		at := testserver.ParseHTML(page.Body.String()).First("form", "class=fields").Attr("action")
		if moved := b.open(at, nil).Body.String(); !strings.Contains(moved, `value="http://old.example/items/"`) {
			t.Errorf("%s: the input was lost: %s", at, moved)
		}
		w = b.open(at, url.Values{
			"csrf": {field}, "do": {"import"},
			"checked": {strings.TrimPrefix(dry, "/registry/jobs/")},
		})
		time.Sleep(time.Minute)
		wantText(t, b.open(w.Header().Get("Location"), nil), 200, "Moving targets", "changed 2")
		auth := "Authorization: Bearer " + adminToken
		if n := s.ask("GET "+of(names, "urn:nbn:fi:d"), "",
			auth).name(t); n.Targets[0].URI != "https://new.example/objects/d" || n.Note != "the server has moved" ||
			n.By != "anna" {
			t.Errorf("%+v", n)
		}
		for _, tt := range []struct{ replace, with, prefix, want string }{
			{"", "https://a.example/", "", "Say what the targets begin with"},
			{"https://a.example/", "https://a.example/", "", "Both are the same"},
			{"https://a.example/", "https://b.example/", "nothing", ""},
		} {
			w := b.open("/registry/targets/move",
				url.Values{"csrf": {field}, "prefix": {tt.prefix}, "replace": {tt.replace}, "with": {tt.with}})
			if w.Code < 400 || w.Code > 422 || !strings.Contains(textOf(w), tt.want) {
				t.Errorf("%+v: %d %s", tt, w.Code, textOf(w))
			}
		}
		wantText(t, b.open("/registry/targets/move", url.Values{"csrf": {field}, "do": {"import"}}), 410,
			"is no longer stored")
	})
}

// The statistics are numbers, with bars in proportion; they contain nothing about clients.
func TestStatisticsOnPage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil)
		b := newBrowser(s, here)
		wantText(t, b.open("/registry/statistics", nil), 200, "There are no names yet")
		s.has(t, "urn:nbn:fi:a", "https://a.example/1", "urn:nbn:fi:b", "https://a.example/2", "hdl:20.500.9999/a",
			"https://a.example/3")
		page := b.open("/registry/statistics", nil)
		wantText(t, page, 200, "urn:nbn 2 0 0", "hdl 1 0 0", "all 3 0 0")
		if bars := testserver.ParseHTML(page.Body.String()).All("meter", "max=3"); len(bars) != 2 ||
			bars[0].Attr("value") != "2" {
			t.Errorf("the bars are not as long as the numbers: %s", page.Body)
		}
		wantText(t, b.open("/registry/statistics?prefix=urn:nbn:fi:a", nil), 200, "urn:nbn:fi:a 1 0 0")
		count(t, s.registry.Store(), map[string]string{"urn:nbn:fi:a": "12 3"}, time.Now().AddDate(0, 0, -1))
		page = b.open("/registry/statistics?uri=URN:nbn:FI:a", nil)
		wantText(t, page, 200, "12 times by people, 3 by programs",
			time.Now().AddDate(0, 0, -1).UTC().Format(time.DateOnly)+" 12 3")
		wantText(t, b.open("/registry/statistics?uri=urn:nbn:fi:b", nil), 200, "Nothing was counted")
		wantText(t, b.open("/registry/statistics", nil), 200, "All names", "Nothing was counted")
		count(t, s.registry.Store(), map[string]string{"": "15 3"}, time.Now().AddDate(0, 0, -2))
		wantText(t, b.open("/registry/statistics", nil), 200, "All names", "15 times by people, 3 by programs")
		wantText(t, b.open("/registry/statistics?since=never", nil), 200, "A time is a day, such as 2031-05-01")
		wantText(t, b.open("/registry/statistics?uri=urn:nbn:fi:a&since=never", nil), 200,
			"A time is a day, such as 2031-05-01")
		wantText(t, b.open("/registry/statistics?uri=%3Cscript%3E", nil), 200, "<script>")
		for i := range 91 {
			count(t, s.registry.Store(), map[string]string{"urn:nbn:fi:a": "1234567 7654321"},
				time.Now().AddDate(0, 0, -i))
		}
		today := time.Now().UTC()
		for _, tt := range []struct{ since, until, want string }{
			{"", "", today.Format(time.DateOnly) + " 1234567 7654321"},
			{today.AddDate(-1, 0, 0).Format(time.DateOnly), "", today.Format("2006-01") + " 1234567 7654321"},
			{"0001-01-01", "9999-12-31", "9999-12 0 0"},
			{"2031-01-01", "1999-01-01", "Nothing was counted"},
		} {
			page := b.open("/registry/statistics?uri=urn:nbn:fi:a&since="+tt.since+"&until="+tt.until, nil)
			wantText(t, page, 200, tt.want)
			if page.Body.Len() > 30<<10 {
				t.Errorf("%+v: %d bytes", tt, page.Body.Len())
			}
		}
	})
}

// count records resolutions of names on a day.
func count(t *testing.T, store registry.Store, tallies map[string]string, day time.Time) {
	t.Helper()
	err := store.Write(t.Context(), func(tx registry.WriteTx) error {
		var all []registry.ResolutionCount
		for name, tally := range tallies {
			r := registry.ResolutionCount{Name: name, Count: registry.Count{Period: day.UTC().Format(time.DateOnly)}}
			if _, err := fmt.Sscan(tally, &r.People, &r.Bots); err != nil {
				return err
			}
			all = append(all, r)
		}
		return tx.AddResolutions(all)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Unhealthy targets are listed by state, even if the first thousands have another one.
func TestTargetsOnPage(t *testing.T) {
	s, _ := newIdleJobSite(t, nil)
	putHealth(t, s.registry.Store(), 2500, "suspect", "http://old.example/")
	putHealth(t, s.registry.Store(), 3, "unhealthy", "javascript:alert(1)//")
	b := newBrowser(s, here)
	page := b.open("/registry/targets?state=suspect&prefix=urn:nbn:fi:suspect", nil)
	wantText(t, page, 200, "urn:nbn:fi:suspect-0000", "404 <b>Not Found</b>", "since 2031-05-01 , 3 failures", "Edit",
		"Move this server", "Next page")
	elements := testserver.ParseHTML(page.Body.String()).First("main")
	if n := len(elements.All("tr")); n < 50 || n > 150 {
		t.Errorf("%d rows", n)
	}
	if len(elements.All("b")) > 0 ||
		!elements.First("a", "href=/registry/targets/move?replace=http%3A%2F%2Fold.example%2F").Exists() {
		t.Errorf("%s", page.Body)
	}
	next, seen := "/registry/targets", ""
	for pages := 0; next != ""; pages++ {
		page := b.open(next, nil)
		seen += textOf(page)
		for _, a := range testserver.ParseHTML(page.Body.String()).All("a") {
			if strings.HasPrefix(a.Attr("href"), "javascript:") {
				t.Fatalf("%s", page.Body)
			}
		}
		next = linkTo(testserver.ParseHTML(page.Body.String()), "Next page")
		if pages > 10 {
			t.Fatal("too many pages")
		}
	}
	if n := strings.Count(seen, "urn:nbn:fi:unhealthy-"); n != 3 {
		t.Errorf("%d are seen, of 3: %.2000s", n, seen)
	}
	wantText(t, page, 200, "Targets are not checked", "registry.health_interval")
	wantText(t, b.open("/registry/targets?state=tired", nil), 400, "")
	putHealth(t, s.registry.Store(), 2, "healthy", "http://back.example/")
	err := s.registry.Store().Write(t.Context(), func(tx registry.WriteTx) error {
		return tx.PutHealth(registry.Health{
			Name: "urn:nbn:fi:moved", URI: "http://old.example/a/1", State: "healthy", Moved: "https://new.example/b/1",
			Detail: []byte("{}"),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	page = b.open("/registry/targets?state=moved", nil)
	wantText(t, page, 200, "http://old.example/a/1 → https://new.example/b/1", "Move all there")
	if body := page.Body.String(); strings.Contains(body, "back.example") ||
		!strings.Contains(body,
			`href="/registry/targets/move?replace=http%3A%2F%2Fold.example%2Fa%2F&amp;with=https%3A%2F%2Fnew.example%2Fb%2F"`) {
		t.Errorf("%s", body)
	}
}

// putHealth stores the health of targets.
func putHealth(t *testing.T, store registry.Store, n int, state, start string) {
	t.Helper()
	err := store.Write(t.Context(), func(tx registry.WriteTx) error {
		since := time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC)
		for i := range n {
			err := tx.PutHealth(registry.Health{
				Name: fmt.Sprintf("urn:nbn:fi:%s-%04d", state, i), URI: fmt.Sprintf("%s%d", start, i), State: state,
				Since: since, Checked: since.AddDate(0, 0, 1), Error: "404 <b>Not Found</b>", Failures: 3,
				Detail: []byte(`{"outcome":"gone","status":404}`),
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A name that somebody changes between the preview of a move and the move itself is a conflict, and stays.
func TestMoveAfterPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newJobSite(t)
		s.has(t, "urn:nbn:fi:a", "http://old.example/a", "urn:nbn:fi:b", "http://old.example/b")
		b := s.editor(t)
		field := csrf(t, b.open("/registry/targets/move", nil))
		dry := b.open("/registry/targets/move", url.Values{
			"csrf": {field}, "replace": {"http://old.example/"}, "with": {"https://new.example/"},
		}).Header().Get("Location")
		time.Sleep(time.Minute)
		page := b.open(dry, nil)
		wantText(t, page, 200, "changed 2")
		s.has(t, "urn:nbn:fi:b", "http://old.example/other")
		w := b.open(testserver.ParseHTML(page.Body.String()).First("form", "class=fields").Attr("action"), url.Values{
			"csrf": {field}, "do": {"import"}, "checked": {strings.TrimPrefix(dry, "/registry/jobs/")},
		})
		time.Sleep(time.Minute)
		wantText(t, b.open(w.Header().Get("Location"), nil), 200, "Moving targets", "changed 1", "changed since")
		for name, want := range map[string]string{"a": "https://new.example/a", "b": "http://old.example/other"} {
			n, err := s.registry.Get(t.Context(), registry.Name("urn:nbn:fi:"+name))
			if err != nil || n.Targets[0].URI != want {
				t.Errorf("%s: %+v, %v; want %s", name, n.Targets, err, want)
			}
		}
	})
}
