// Package api is the API of the admin interface for programs: the daemon, its caches and the registry. It
// dispatches a request and its authenticated actor to an operation of the embedded OpenAPI document, and
// returns JSON documents, files and problem documents (RFC 9457). It follows OpenAPI 3.1, merge patches (RFC
// 7396) and preconditions (RFC 9110 section 13).
package api

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
)

// Config configures an API. All fields but Service must be set, and safe for concurrent use.
type Config struct {
	Service   *service.Service // nil without a registry
	Log       *slog.Logger
	Metrics   http.Handler
	Caches    Caches
	Responses Responses
	// HasResponses reports whether HTTP responses are stored for the URIs of a scheme, in lower case. The
	// URIs of other schemes are names, for which resolver answers are cached.
	HasResponses func(scheme string) bool
	// Health returns the reasons why the daemon is not ready, and those why it is degraded.
	Health func() (unready, degraded []string)
	// Settings returns the configuration in force, without secrets, by section; Origins returns each setting
	// with its origin.
	Settings, Origins func() any
	// Failed reports errors of requests to the registry that the client did not cause.
	Failed func(r *http.Request, actor registry.Actor, err error)
	// Revoked ends the sessions of a token, by the ID of the token.
	Revoked func(id string)
	Writer  page.Writer
}

// API serves requests of authenticated actors. It is safe for concurrent use.
type API struct {
	Config
	operations []operation
}

// New returns an API. It panics if the operations of the embedded OpenAPI document are not those of actions.
func New(config Config) *API {
	a := &API{Config: config}
	var err error
	if a.operations, err = operationsOf(Document, a.actions()); err != nil {
		panic(err) //nolint:forbidigo // it depends on no input: a test finds it, as it finds an invalid template
	}
	return a
}

// actions returns the action of each operation, by its operationId.
func (a *API) actions() map[string]action {
	const name, prefix = registry.KindName, registry.KindPrefix
	profile := profiles{make(quota.Semaphore, 1), a.Writer.Fail}
	return map[string]action{
		"health":    {serve: showing(func() any { return map[string]string{"status": "ok"} })},
		"readiness": {serve: a.serveReady},
		"metrics":   {handler: a.Metrics},
		"openapi": {serve: func(*call) (message.Reply, error) {
			return message.Reply{Status: http.StatusOK, ContentType: "application/json", Body: Document}, nil
		}},
		"configuration":  {serve: a.serveConfig},
		"caches":         {serve: showing(a.Caches.Stats)},
		"lookup":         {serve: a.serveLookup},
		"purge":          {serve: a.servePurge},
		"responses":      {serve: a.serveResponses},
		"purgeResponses": {serve: a.servePurgeResponses},
		"why":            {serve: a.serveExplain},

		"profiles":     {handler: profile.bounded(pprof.Index)},
		"pprofCmdline": {handler: http.HandlerFunc(pprof.Cmdline)},
		"pprofProfile": {handler: profile.bounded(pprof.Profile)},
		"pprofSymbol":  {handler: http.HandlerFunc(pprof.Symbol)},
		"pprofTrace":   {handler: profile.bounded(pprof.Trace)},

		"listNames":      {use: service.ToRead, kind: name, serve: serveEntries},
		"putName":        {use: service.ToChange, kind: name, serve: servePut},
		"patchName":      {use: service.ToChange, kind: name, serve: servePatch},
		"historyOfName":  {use: service.ToRead, kind: name, serve: serveHistory},
		"withdrawName":   {use: service.ToWithdraw, kind: name, serve: serveWithdraw},
		"supersedeNames": {use: service.ToWithdraw, kind: name, serve: serveSupersede},
		"mintNames":      {use: service.ToMint, kind: name, serve: serveMint},
		"exportNames":    {use: service.ToRead, kind: name, serve: serveExport},

		"listPrefixes":    {use: service.ToRead, kind: prefix, serve: serveEntries},
		"putPrefix":       {use: service.ToChange, kind: prefix, serve: servePut},
		"patchPrefix":     {use: service.ToChange, kind: prefix, serve: servePatch},
		"historyOfPrefix": {use: service.ToRead, kind: prefix, serve: serveHistory},
		"withdrawPrefix":  {use: service.ToWithdraw, kind: prefix, serve: serveWithdraw},
		"exportPrefixes":  {use: service.ToRead, kind: prefix, serve: serveExport},
		"purgeSandbox":    {use: service.ToPurge, kind: prefix, serve: servePurgeSandbox},

		"listJobs":       {use: service.ToRead, serve: serveJobs},
		"importNames":    {use: service.ToImport, serve: serveAccept},
		"job":            {use: service.ToRead, serve: serveJob},
		"cancelJob":      {use: service.ToImport, serve: serveCancel},
		"rejectedLines":  {use: service.ToRead, serve: serveRejected},
		"jobDifferences": {use: service.ToRead, serve: serveDifferences},

		"changeSets":       {use: service.ToRead, serve: serveChanges},
		"changeSet":        {use: service.ToRead, serve: serveChangeSet},
		"revertChangeSet":  {use: service.ToRevert, serve: serveRevert},
		"registryVersions": {use: service.ToRead, serve: serveVersions},
		"statistics":       {use: service.ToRead, serve: serveStatistics},
		"listUnhealthy":    {use: service.ToRead, serve: serveHealth},
		"listTokens":       {use: service.ToManageTokens, serve: serveTokens},
		"createToken":      {use: service.ToManageTokens, serve: serveCreateToken},
		"revokeToken":      {use: service.ToManageTokens, serve: a.serveRevokeToken},
	}
}

// call is one request for an operation.
type call struct {
	*http.Request
	w       http.ResponseWriter
	service *service.Service
	kind    registry.Kind
	actor   registry.Actor
	// {id} of the path: a job, a token, or the number of a change set; "" if the path has none
	id    string
	given map[string]string   // the parameters that are not empty
	lists map[string][]string // parameters that may be repeated
}

// get returns a parameter, "" if it is missing.
func (c *call) get(name string) string { return c.given[name] }

// key returns the registry key of a name.
func (c *call) key(text string) (registry.Key, error) {
	if text == "" {
		return registry.Key{}, fmt.Errorf("%w: uri is required", problem.ErrSelection)
	}
	return registry.Key{Kind: c.kind, Name: text}, nil
}

// Serve serves the request of an actor. The zero value is an administrator, or any client of an open
// operation.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, actor registry.Actor) {
	o, id, err := a.find(r)
	switch {
	case err == nil && o.handler != nil:
		o.handler.ServeHTTP(w, r)
		return
	case err == nil:
		var reply message.Reply
		if reply, err = a.reply(&call{Request: r, w: w, service: a.Service, kind: o.kind, actor: actor, id: id},
			o); err == nil {
			a.Writer.Write(w, r, reply)
			return
		}
	}
	if a.OfRegistry(r.URL.Path) {
		a.Failed(r, actor, err)
	}
	reply := a.Writer.Problem(r, &problem.Failure{Err: err, Input: r.URL.Query().Get("uri")})
	if errors.Is(err, problem.ErrBodyTimeout) {
		// Otherwise net/http waits once more for the body before it sends the reply.
		reply.Fields.Set("Connection", "close")
	}
	a.Writer.Write(w, r, reply)
}

// reply authorizes a call, parses its parameters and serves it.
func (a *API) reply(c *call, o *operation) (reply message.Reply, err error) {
	if o.registry {
		c.w.Header()[httpmessage.RequestIDField] = []string{c.actor.Request}
		if err := o.use.Check(c.actor, o.kind); err != nil { // before the body is read
			return message.Reply{}, err
		}
		leave, err := a.Service.Enter(c.Context(), c.actor)
		if err != nil {
			return message.Reply{}, err
		}
		defer leave()
	}
	if o.registry || len(o.parameters) > 0 { // a monitoring system may add parameters to paths that have none
		if c.given, c.lists, err = parametersOf(c.Request, o.parameters, o.lists); err != nil {
			return message.Reply{}, err
		}
	}
	return o.serve(c)
}
