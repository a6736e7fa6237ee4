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

// showing returns an action that serves the result of get as JSON.
func showing(get func() any) func(*call) (message.Reply, error) {
	return func(*call) (message.Reply, error) { return message.JSON(http.StatusOK, get()), nil }
}

// serveReady returns whether urnd is ready, and the reasons why it is not, or why it is degraded.
func (a *API) serveReady(*call) (message.Reply, error) {
	unready, degraded := a.Health()
	status, word := http.StatusOK, "ready"
	if len(unready) > 0 {
		status, word = http.StatusServiceUnavailable, "not ready"
	}
	return message.JSON(status,
		map[string]any{"status": word, "unready": notNil(unready), "degraded": notNil(degraded)}), nil
}

// serveConfig returns the configuration in force, without secrets.
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

// notNil returns list, or an empty list for nil, which JSON would show as null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// maxProfile limits the duration of a profile, in seconds.
const maxProfile = 60

var (
	errProfileTime = fmt.Errorf("%w: a profile is limited to %d seconds", problem.ErrSelection, maxProfile)
	errProfiling   = fmt.Errorf("%w: another profile is running; retry when it has ended", resolver.ErrBusy)
)

// profiles serves profiles of the Go runtime: one at a time, since each slows down the whole process.
type profiles struct {
	quota.Semaphore
	fail func(http.ResponseWriter, *http.Request, error)
}

// bounded returns a handler that limits take, which serves the profile that the path names.
func (p profiles) bounded(take http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/") { // the index of profiles
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

// checkProfileTime returns an error for a parameter "seconds" that is too long, or that pprof would replace
// by its default of 30 seconds.
func checkProfileTime(text string) error {
	if text == "" {
		return nil
	}
	if seconds, err := strconv.ParseFloat(text, 64); err != nil || !(seconds > 0 && seconds <= maxProfile) {
		return errProfileTime
	}
	return nil
}
