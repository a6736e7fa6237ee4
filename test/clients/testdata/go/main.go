// The program of a user of both interfaces, by clients that oapi-codegen generates: it calls every operation, and ends with an error where
// one fails or is not parsed. Its arguments are the URLs of the service and of the admin interface, and a folder that is served.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	"client/admin"
	"client/service"
)

func main() {
	log.SetFlags(0)
	direct := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	names, err := service.NewClientWithResponses(os.Args[1], service.WithHTTPClient(direct))
	if err != nil {
		log.Fatal(err)
	}
	admins, err := admin.NewClientWithResponses(os.Args[2], admin.WithHTTPClient(direct))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	register(ctx, admins)
	ask(ctx, names, os.Args[3])
	importAll(ctx, admins)
	readAll(ctx, admins)
	operate(ctx, admins)
}

func to[T any](v T) *T { return &v }

// expect requires that a call has a status, and that a document in JSON was parsed into a field.
func expect[R any](status int) func(r *R, err error) *R {
	return func(r *R, err error) *R {
		name := strings.TrimPrefix(fmt.Sprintf("%T", r), "*")
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		value, parsed := reflect.ValueOf(r).Elem(), false
		response := value.FieldByName("HTTPResponse").Interface().(*http.Response)
		for field, of := range value.Fields() {
			parsed = parsed || strings.Contains(field.Name, "JSON") && of.Kind() == reflect.Pointer && !of.IsNil()
		}
		body := value.FieldByName("Body").Bytes()
		kind := response.Header.Get("Content-Type")
		if response.StatusCode != status || strings.HasSuffix(kind, "json") && !strings.HasSuffix(kind, "ndjson") && !parsed {
			log.Fatalf("%s: %s, %s, parsed %t: %.300s", name, response.Status, kind, parsed, body)
		}
		return r
	}
}

const (
	name, item, prefix, sandbox = "urn:example:a", "urn:example:item-1", "urn:example:p-", "urn:example:try-"
	handle, ark                 = "20.500.9/h1", "ark:/12345/x1"
)

func record(name, target string) admin.Name {
	return admin.Name{Name: name, Status: admin.NameStatus("active"), Targets: []admin.Target{{Uri: target}}}
}

// register fills the registry, and changes it.
func register(ctx context.Context, c *admin.ClientWithResponses) {
	for _, n := range []string{name, "hdl:" + handle, ark, "urn:example:b"} {
		expect[admin.PutNameResponse](201)(c.PutNameWithResponse(ctx, &admin.PutNameParams{Uri: n}, record(n, "https://target.example/a")))
	}
	refused := expect[admin.PutNameResponse](428)(c.PutNameWithResponse(ctx, &admin.PutNameParams{Uri: name}, record(name, "https://other.example/")))
	if p := refused.ApplicationproblemJSONDefault; p == nil || p.Status != 428 {
		log.Fatalf("putName: no problem document: %s", refused.Body)
	}
	expect[admin.PutNameResponse](200)(c.PutNameWithResponse(ctx, &admin.PutNameParams{Uri: name, IfMatch: to(`"1"`)}, record(name, "https://target.example/b")))
	expect[admin.PatchNameResponse](200)(c.PatchNameWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, &admin.PatchNameParams{Uri: name},
		admin.PatchNameApplicationMergePatchPlusJSONRequestBody{"contact": "mailto:a@a.example"}))
	expect[admin.PutPrefixResponse](201)(c.PutPrefixWithResponse(ctx, &admin.PutPrefixParams{Uri: prefix}, record(prefix, "https://target.example/")))
	expect[admin.PatchPrefixResponse](200)(c.PatchPrefixWithApplicationMergePatchPlusJSONBodyWithResponse(ctx, &admin.PatchPrefixParams{Uri: prefix},
		admin.PatchPrefixApplicationMergePatchPlusJSONRequestBody{"contact": "mailto:a@a.example"}))
	trial := record(sandbox, "https://try.example/")
	trial.Sandbox = to(true)
	expect[admin.PutPrefixResponse](201)(c.PutPrefixWithResponse(ctx, &admin.PutPrefixParams{Uri: sandbox}, trial))
	expect[admin.PutNameResponse](201)(c.PutNameWithResponse(ctx, &admin.PutNameParams{Uri: sandbox + "1"}, record(sandbox+"1", "https://try.example/1")))
	expect[admin.PurgeSandboxResponse](200)(c.PurgeSandboxWithResponse(ctx, &admin.PurgeSandboxParams{Prefix: sandbox}))
	expect[admin.WithdrawPrefixResponse](200)(c.WithdrawPrefixWithResponse(ctx, &admin.WithdrawPrefixParams{Uri: prefix, DryRun: to(true)},
		admin.Withdrawal{Reason: to("done"), Note: to("n")}))
	minted := expect[admin.MintNamesResponse](201)(c.MintNamesWithResponse(ctx, admin.Minting{Pattern: "urn:example:item-{counter}", Count: to(2)}))
	if list := minted.JSON201.Names; len(list) != 2 || list[0] != item {
		log.Fatalf("mintNames: %v", list)
	}
	expect[admin.SupersedeNamesResponse](200)(c.SupersedeNamesWithResponse(ctx, admin.Superseding{
		Names: []string{"urn:example:b"}, Successors: []string{name}, Note: "n",
	}))
	expect[admin.WithdrawNameResponse](200)(c.WithdrawNameWithResponse(ctx, &admin.WithdrawNameParams{Uri: item, DryRun: to(true)},
		admin.Withdrawal{Reason: to("r"), Note: to("n")}))
}

// ask calls all operations of the service.
func ask(ctx context.Context, c *service.ClientWithResponses, folder string) {
	thttp := func(_ context.Context, r *http.Request) error {
		r.URL.RawQuery = name
		return nil
	}
	expect[service.RedirectResponse](302)(c.RedirectWithResponse(ctx, name))
	expect[service.OptionsOfNameResponse](204)(c.OptionsOfNameWithResponse(ctx, name))
	expect[service.FormResponse](302)(c.FormWithResponse(ctx, &service.FormParams{Uri: to(name)}))
	expect[service.ThttpResponse](200)(c.ThttpWithResponse(ctx, "N2Ls", thttp))
	expect[service.ThttpResponse](200)(c.ThttpWithResponse(ctx, "N2C", thttp))
	resolved := expect[service.ResolveResponse](200)(c.ResolveWithResponse(ctx, &service.ResolveParams{Uri: name, Service: to(service.ResolveParamsService("I2L"))}))
	if a := resolved.JSON200; len(a.Locations) != 1 || a.Locations[0].Uri != "https://target.example/b" {
		log.Fatalf("resolve: %s", resolved.Body)
	}
	tag := resolved.HTTPResponse.Header.Get("Etag")
	expect[service.ResolveResponse](304)(c.ResolveWithResponse(ctx, &service.ResolveParams{Uri: name, IfNoneMatch: &tag}))
	wrong := expect[service.ResolveResponse](400)(c.ResolveWithResponse(ctx, &service.ResolveParams{Uri: "urn:a"}))
	if p := wrong.ApplicationproblemJSON400; p == nil || p.Detail == "" {
		log.Fatalf("resolve: no problem document: %s", wrong.Body)
	}
	many := expect[service.ResolveManyResponse](200)(c.ResolveManyWithResponse(ctx, &service.ResolveManyParams{}, []string{name, "urn:a"}))
	if lines := bytes.Count(many.Body, []byte("\n")); lines != 2 {
		log.Fatalf("resolveMany: %s", many.Body)
	}
	expect[service.ExplainResponse](200)(c.ExplainWithResponse(ctx, &service.ExplainParams{Uri: name, Format: to(service.ExplainParamsFormat("json"))}))
	expect[service.HandleResponse](200)(c.HandleWithResponse(ctx, handle, &service.HandleParams{Type: to([]string{"URL"})}))
	expect[service.FetchResponse](200)(c.FetchWithResponse(ctx, &service.FetchParams{Uri: to("file://" + folder + "/"), Sort: to(service.FetchParamsSort("size"))}))
	when := time.Now().UTC().Add(time.Hour)
	gate := expect[service.TimegateResponse](302)(c.TimegateWithResponse(ctx, name, &service.TimegateParams{AcceptDatetime: to(when.Format(http.TimeFormat))}))
	expect[service.TimemapResponse](200)(c.TimemapWithResponse(ctx, name))
	expect[service.TimemapPageResponse](200)(c.TimemapPageWithResponse(ctx, 1, name))
	at := strings.Split(gate.HTTPResponse.Header.Get("Location"), "/memento/")
	moment, _, _ := strings.Cut(at[len(at)-1], "/")
	expect[service.MementoResponse](302)(c.MementoWithResponse(ctx, moment, name))
	expect[service.OpenapiResponse](200)(c.OpenapiWithResponse(ctx))
	expect[service.RobotsResponse](200)(c.RobotsWithResponse(ctx))
	expect[service.NamesResponse](200)(c.NamesWithResponse(ctx, &service.NamesParams{Status: to(service.NamesParamsStatus("active"))}))
	expect[service.SitemapResponse](200)(c.SitemapWithResponse(ctx))
	expect[service.SitemapFileResponse](200)(c.SitemapFileWithResponse(ctx, "~"))
	expect[service.NamespacesResponse](200)(c.NamespacesWithResponse(ctx, &service.NamespacesParams{}))
	expect[service.NamespaceResponse](200)(c.NamespaceWithResponse(ctx, "isbn", &service.NamespaceParams{}))
	expect[service.DocsResponse](200)(c.DocsWithResponse(ctx, &service.DocsParams{}))
	expect[service.DocsOfGroupResponse](200)(c.DocsOfGroupWithResponse(ctx, "names", &service.DocsOfGroupParams{}))
	expect[service.OpensearchResponse](200)(c.OpensearchWithResponse(ctx))
	expect[service.FaviconResponse](200)(c.FaviconWithResponse(ctx))
	expect[service.CatalogResponse](200)(c.CatalogWithResponse(ctx))
	expect[service.ArksResponse](200)(c.ArksWithResponse(ctx))
	expect[service.SecurityResponse](200)(c.SecurityWithResponse(ctx))
}

// importAll imports names by jobs, and cancels others.
func importAll(ctx context.Context, c *admin.ClientWithResponses) {
	csv := func(params admin.ImportNamesParams, text string) string {
		made := expect[admin.ImportNamesResponse](202)(c.ImportNamesWithBodyWithResponse(ctx, &params, "text/csv", strings.NewReader("name,target\n"+text)))
		return made.JSON202.Id
	}
	id := csv(admin.ImportNamesParams{DryRun: to(true)}, "urn:example:c,https://target.example/c\nno name,https://target.example/d\n")
	for done := false; !done; time.Sleep(5 * time.Millisecond) {
		job := expect[admin.JobResponse](200)(c.JobWithResponse(ctx, id)).JSON200
		done = job.Ended != nil
	}
	rejected := expect[admin.RejectedLinesResponse](200)(c.RejectedLinesWithResponse(ctx, id, &admin.RejectedLinesParams{Format: to(admin.RejectedLinesParamsFormat("ndjson"))}))
	if !bytes.Contains(rejected.Body, []byte("no name")) {
		log.Fatalf("rejectedLines: %s", rejected.Body)
	}
	expect[admin.JobDifferencesResponse](200)(c.JobDifferencesWithResponse(ctx, id, &admin.JobDifferencesParams{Format: to(admin.JobDifferencesParamsFormat("csv"))}))
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "urn:example:long-%d,https://target.example/%d\n", i, i)
	}
	running := csv(admin.ImportNamesParams{DryRun: to(true)}, lines.String())
	moved := expect[admin.ImportNamesResponse](202)(c.ImportNamesWithResponse(ctx, &admin.ImportNamesParams{},
		admin.Rewrite{Prefix: "urn:example:", Replace: "https://old.example/", With: "https://new.example/"}))
	for _, id := range []string{moved.JSON202.Id, running} {
		expect[admin.CancelJobResponse](202)(c.CancelJobWithResponse(ctx, id))
	}
	expect[admin.ListJobsResponse](200)(c.ListJobsWithResponse(ctx))
}

// readAll reads what was registered.
func readAll(ctx context.Context, c *admin.ClientWithResponses) {
	one := expect[admin.ListNamesResponse](200)(c.ListNamesWithResponse(ctx, &admin.ListNamesParams{Uri: to(name)}))
	if n, err := one.JSON200.AsName(); err != nil || n.Name != name || n.Status != "active" {
		log.Fatalf("listNames: %s", one.Body)
	}
	list := expect[admin.ListNamesResponse](200)(c.ListNamesWithResponse(ctx, &admin.ListNamesParams{Prefix: to("urn:example:")}))
	if page, err := list.JSON200.AsNamePage(); err != nil || len(page.Names) == 0 {
		log.Fatalf("listNames: %s", list.Body)
	}
	expect[admin.HistoryOfNameResponse](200)(c.HistoryOfNameWithResponse(ctx, &admin.HistoryOfNameParams{Uri: name}))
	expect[admin.ListPrefixesResponse](200)(c.ListPrefixesWithResponse(ctx, &admin.ListPrefixesParams{}))
	expect[admin.HistoryOfPrefixResponse](200)(c.HistoryOfPrefixWithResponse(ctx, &admin.HistoryOfPrefixParams{Uri: prefix}))
	expect[admin.ExportNamesResponse](200)(c.ExportNamesWithResponse(ctx, &admin.ExportNamesParams{Format: to(admin.ExportNamesParamsFormat("tsv"))}))
	expect[admin.ExportPrefixesResponse](200)(c.ExportPrefixesWithResponse(ctx, &admin.ExportPrefixesParams{Format: to(admin.ExportPrefixesParamsFormat("ndjson"))}))
	changes := expect[admin.ChangeSetsResponse](200)(c.ChangeSetsWithResponse(ctx, &admin.ChangeSetsParams{Order: to(admin.ChangeSetsParamsOrder("newest"))}))
	page, err := changes.JSON200.AsChangePage()
	if err != nil || len(page.Changes) == 0 {
		log.Fatalf("changeSets: %s", changes.Body)
	}
	newest := page.Changes[0].Number
	expect[admin.ChangeSetResponse](200)(c.ChangeSetWithResponse(ctx, newest, &admin.ChangeSetParams{}))
	expect[admin.RevertChangeSetResponse](200)(c.RevertChangeSetWithResponse(ctx, &admin.RevertChangeSetParams{DryRun: to(true)},
		admin.Reverting{Set: newest, Note: "n"}))
	expect[admin.RegistryVersionsResponse](200)(c.RegistryVersionsWithResponse(ctx, &admin.RegistryVersionsParams{}))
	expect[admin.StatisticsResponse](200)(c.StatisticsWithResponse(ctx, &admin.StatisticsParams{}))
	expect[admin.ListUnhealthyResponse](200)(c.ListUnhealthyWithResponse(ctx, &admin.ListUnhealthyParams{State: to(admin.ListUnhealthyParamsState("suspect"))}))
	token := expect[admin.CreateTokenResponse](201)(c.CreateTokenWithResponse(ctx, admin.NewToken{
		Name: "catalogue", Role: "writer", Actions: &[]admin.NewTokenActions{"mint", "change"},
	}))
	expect[admin.ListTokensResponse](200)(c.ListTokensWithResponse(ctx))
	expect[admin.RevokeTokenResponse](200)(c.RevokeTokenWithResponse(ctx, token.JSON201.Id))
}

// operate calls the operations on the daemon.
func operate(ctx context.Context, c *admin.ClientWithResponses) {
	expect[admin.HealthResponse](200)(c.HealthWithResponse(ctx))
	expect[admin.ReadinessResponse](200)(c.ReadinessWithResponse(ctx))
	expect[admin.MetricsResponse](200)(c.MetricsWithResponse(ctx))
	expect[admin.CachesResponse](200)(c.CachesWithResponse(ctx))
	expect[admin.LookupResponse](200)(c.LookupWithResponse(ctx, &admin.LookupParams{Uri: name}))
	expect[admin.PurgeResponse](200)(c.PurgeWithResponse(ctx, &admin.PurgeParams{Uri: to(name)}))
	expect[admin.ResponsesResponse](200)(c.ResponsesWithResponse(ctx, &admin.ResponsesParams{Uri: "http://a.example/"}))
	expect[admin.WhyResponse](200)(c.WhyWithResponse(ctx, &admin.WhyParams{Uri: "http://a.example/"}))
	expect[admin.PurgeResponsesResponse](200)(c.PurgeResponsesWithResponse(ctx, &admin.PurgeResponsesParams{
		Uri: to("http://a.example/"), Mode: to(admin.PurgeResponsesParamsMode("hard")),
	}))
	expect[admin.ConfigurationResponse](200)(c.ConfigurationWithResponse(ctx, &admin.ConfigurationParams{Origins: to(true)}))
	expect[admin.OpenapiResponse](200)(c.OpenapiWithResponse(ctx))
	expect[admin.ProfilesResponse](200)(c.ProfilesWithResponse(ctx))
	expect[admin.PprofCmdlineResponse](200)(c.PprofCmdlineWithResponse(ctx))
	expect[admin.PprofSymbolResponse](200)(c.PprofSymbolWithResponse(ctx))
	expect[admin.PprofProfileResponse](200)(c.PprofProfileWithResponse(ctx, &admin.PprofProfileParams{Seconds: to(float32(1))}))
	expect[admin.PprofTraceResponse](200)(c.PprofTraceWithResponse(ctx, &admin.PprofTraceParams{Seconds: to(float32(1))}))
}
