package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
)

// showing answers what get returns.
func showing(get func() any) func(*call) (message.Reply, error) {
	return func(*call) (message.Reply, error) { return message.JSON(http.StatusOK, get()), nil }
}

// serveReady answers whether urnd is ready, and what is wrong although it is.
func (a *API) serveReady(*call) (message.Reply, error) {
	unready, degraded := a.Health()
	status, word := http.StatusOK, "ready"
	if len(unready) > 0 {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	return message.JSON(status, map[string]any{"status": word, "unready": notNil(unready), "degraded": notNil(degraded)}), nil
}

// serveConfig answers the configuration in force.
func (a *API) serveConfig(c *call) (message.Reply, error) {
	withOrigins, err := boolean("origins", c.get("origins"))
	if err != nil {
		return message.Reply{}, err
	}
	if withOrigins {
		return message.JSON(http.StatusOK, a.Origins()), nil
	}
	return message.JSON(http.StatusOK, a.Settings()), nil
}

// notNil makes nil an empty list in JSON.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// maxProfile bounds the time of a profile, in seconds.
const maxProfile = 60

var (
	errProfileTime = fmt.Errorf("%w: a profile takes at most %d seconds", problem.ErrSelection, maxProfile)
	errProfiling   = fmt.Errorf("%w: another profile is being taken", resolver.ErrBusy)
)

// profiles are those of the Go runtime that are being taken: one at a time, since each slows down the whole process.
type profiles struct {
	quota.Semaphore
	fail func(http.ResponseWriter, *http.Request, error)
}

// bounded returns a handler of one or several profiles, whose path ends with its name.
func (p profiles) bounded(take http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") { // the list of them
			take(w, r)
			return
		}
		if err := checkProfileTime(r.FormValue("seconds")); err != nil {
			p.fail(w, r, err)
			return
		}
		if !p.TryAcquire() {
			p.fail(w, r, errProfiling)
			return
		}
		defer p.Release()
		take(w, r)
	}
}

// checkProfileTime refuses a parameter "seconds" that is too long, or that pprof would read as its default of 30 seconds.
func checkProfileTime(text string) error {
	if text == "" {
		return nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err != nil || !(seconds > 0 && seconds <= maxProfile) {
		return errProfileTime
	}
	return nil
}
