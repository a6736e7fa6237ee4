// Package api answers programs of administrators and editors, by an OpenAPI document: the daemon with its caches, and the registry.
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
	Service   *service.Service // of the registry; nil: there is none
	Log       *slog.Logger
	Metrics   http.Handler
	Caches    Caches
	Responses Responses
	// HasResponses reports whether responses are stored for the URIs of a scheme, in lower case. Of others, which are names,
	// there are answers.
	HasResponses func(scheme string) bool
	// Health returns why the daemon is not ready, and what is wrong although it is.
	Health func() (unready, degraded []string)
	// Settings returns the configuration in force, without secrets, by section; Origins each setting with its origin.
	Settings, Origins func() any
	// Failed is told of errors of requests to the registry that are not the client's.
	Failed func(r *http.Request, actor registry.Actor, err error)
	// Revoked ends what was begun with a token, by its ID.
	Revoked func(id string)
	Writer  page.Writer
}

// API answers requests of those who were admitted. It is safe for concurrent use.
type API struct {
	Config
	operations []operation
}

// New returns an API. It panics where the OpenAPI document, which is part of the program, has other operations.
func New(config Config) *API {
	a := &API{Config: config}
	var err error
	if a.operations, err = operationsOf(Document, a.actions()); err != nil {
		panic(err) //nolint:forbidigo // no input is read: a test finds it, as it does a template that is none
	}
	return a
}

// actions are what is done by the operations of the document, by their operationId.
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
		"why":            {serve: a.serveWhy},

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

// call is a request for an operation.
type call struct {
	*http.Request
	w       http.ResponseWriter
	service *service.Service
	kind    registry.Kind
	actor   registry.Actor
	id      string              // of a job or token, or the number of a change set; "" where the path has none
	given   map[string]string   // the parameters that are not empty
	lists   map[string][]string // those that may be given several times
}

// get returns a parameter, "" where it is not given.
func (c *call) get(name string) string { return c.given[name] }

// key returns the key of a parameter.
func (c *call) key(text string) (registry.Key, error) {
	if text == "" {
		return registry.Key{}, fmt.Errorf("%w: uri is required", problem.ErrSelection)
	}
	return registry.Key{Kind: c.kind, Name: text}, nil
}

// Serve answers a request of an actor; the zero value is somebody for whom the operation is open, or an administrator.
func (a *API) Serve(w http.ResponseWriter, r *http.Request, actor registry.Actor) {
	o, id, err := a.find(r)
	switch {
	case err == nil && o.handler != nil:
		o.handler.ServeHTTP(w, r)
		return
	case err == nil:
		var reply message.Reply
		if reply, err = a.reply(&call{Request: r, w: w, service: a.Service, kind: o.kind, actor: actor, id: id}, o); err == nil {
			a.Writer.Write(w, r, reply)
			return
		}
	}
	if a.OfRegistry(r.URL.Path) {
		a.Failed(r, actor, err)
	}
	reply := a.Writer.Problem(r, &problem.Failure{Err: err, Input: r.URL.Query().Get("uri")})
	if errors.Is(err, problem.ErrBodyTimeout) {
		reply.Fields.Set("Connection", "close") // or net/http waits once more for the body before it sends the reply
	}
	a.Writer.Write(w, r, reply)
}

// reply returns the reply to a call.
func (a *API) reply(c *call, o *operation) (reply message.Reply, err error) {
	if o.registry {
		c.w.Header()[httpmessage.RequestIDField] = []string{c.actor.Request}
		if err := o.use.Check(c.actor, o.kind); err != nil { // before anything is read that is sent with it
			return message.Reply{}, err
		}
		leave, err := a.Service.Enter(c.Context(), c.actor)
		if err != nil {
			return message.Reply{}, err
		}
		defer leave()
	}
	if o.registry || len(o.parameters) > 0 { // a monitor may add its own to the paths that have none
		if c.given, c.lists, err = parametersOf(c.Request, o.parameters, o.lists); err != nil {
			return message.Reply{}, err
		}
	}
	return o.serve(c)
}
