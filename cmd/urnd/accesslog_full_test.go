package main

import (
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// A full disk is in the log once, and in /readyz as long as lines are lost.
func TestAccessLogOnAFullDisk(t *testing.T) {
	l := start(t, "listen: {service: '127.0.0.1:0', admin: '127.0.0.1:0'}", "log: {format: text, access: json, access_file: /dev/full}")
	admin := testService{url: "http://" + l.admin}
	if got := admin.get(t, "/readyz").body; strings.Contains(got, "access log") {
		t.Errorf("before a request: %s", got)
	}
	for range 3 {
		if got := l.get(t, "/urn:book:1"); got.status != 302 {
			t.Errorf("%+v", got)
		}
		testserver.Wait(t, "/readyz says so", func() bool {
			got := admin.get(t, "/readyz")
			return got.status == 200 && strings.Contains(got.body,
				"the access log cannot be written, and lines of it are lost: write /dev/full: no space left on device")
		})
	}
	if n := l.logged("the access log cannot be written"); n != 1 {
		t.Errorf("%d lines of the log", n)
	}
	if got := admin.get(t, "/metrics").body; strings.Contains(got, "\nurnd_access_log_lost_total 0\n") {
		t.Error("the lost lines are not counted")
	}
	l.write(t, "listen: {service: '127.0.0.1:0', admin: '127.0.0.1:0'}", "log: {format: text, access: json, access_file: "+t.TempDir()+"/access.log}")
	if !l.reload(t) || strings.Contains(admin.get(t, "/readyz").body, "access log") {
		t.Error("another file is degraded too")
	}
}
