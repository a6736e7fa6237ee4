//go:build linux

package main

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"text/template"
	"time"
)

//go:embed config
var configs embed.FS

// peer is a server to measure.
type peer struct {
	name    string
	pkg     string            // Debian package, for its version; "" for urnd
	files   map[string]string // templates of its configuration by file name
	folders []string          // to create in its folder
	command func(p place) []string
	env     func(p place) []string
	cannot  map[form]string // reasons for unsupported forms
	single  bool            // uses only one processor
	names   bool            // has the names of the registry
	secure  bool            // also listens with TLS
	squid   bool            // its configuration supports the features of Squid
	reload  os.Signal       // makes it reload its lists; nil: it notices changes itself
	with    feature
}

const (
	noForward = "it is no forward proxy: its servers are those of the configuration"
	noConnect = "it has no CONNECT"
	noFTP     = "it has no gateway to FTP"
)

// peers returns all servers in the order of the table.
func peers(s settings) []peer {
	return append(append(urnds(s), floors(s)...), others()...)
}

// others returns the servers of Debian.
func others() []peer {
	return []peer{
		{
			name: "nginx", pkg: "nginx", files: config("nginx.conf"),
			command: func(p place) []string {
				return []string{"nginx", "-p", p.Dir, "-c", p.Dir + "/nginx.conf", "-e", p.Dir + "/error.log"}
			},
			cannot: map[form]string{download: noConnect, upload: noConnect, ftpFile: noFTP, ftpDirectory: noFTP},
			secure: true,
		},
		{
			name: "haproxy", pkg: "haproxy", files: config("haproxy.cfg", "names.map"),
			command: func(p place) []string { return []string{"haproxy", "-f", p.Dir + "/haproxy.cfg"} },
			cannot:  map[form]string{download: noConnect, upload: noConnect, ftpFile: noFTP, ftpDirectory: noFTP},
			secure:  true,
		},
		{
			name: "varnish", pkg: "varnish", files: config("varnish.vcl"), folders: []string{"work"},
			command: func(p place) []string {
				return []string{
					"varnishd", "-F", "-j", "none", "-n", p.Dir + "/work", "-a", p.Gateway, "-T", "none",
					"-f", p.Dir + "/varnish.vcl", "-s", "malloc,256m", "-p", fmt.Sprint("thread_pools=", p.Processors),
				}
			},
			cannot: map[form]string{
				forward: noForward, download: noConnect, upload: noConnect, ftpFile: noFTP,
				ftpDirectory: noFTP,
			},
		},
		{
			name: "squid", pkg: "squid", files: config("squid.conf"),
			command: func(p place) []string { return []string{"squid", "-N", "-f", p.Dir + "/squid.conf"} },
			cannot:  map[form]string{redirect: "it redirects by helper programs only"},
			single:  true, // without -N it leaves the process group
			squid:   true,
			reload:  syscall.SIGHUP, // like squid -k reconfigure
		},
		{
			name: "trafficserver", pkg: "trafficserver",
			files: config("records.config", "runroot.yaml", "remap.config", "storage.config", "ip_allow.yaml"),
			command: func(p place) []string {
				return []string{"traffic_server", "--run-root=" + p.Dir + "/runroot.yaml"}
			},
			cannot: map[form]string{redirect: "it redirects by plugins only", ftpFile: noFTP, ftpDirectory: noFTP},
		},
		{
			name: "apache", pkg: "apache2", files: config("apache.conf"), folders: []string{"cache"},
			command: func(p place) []string {
				return []string{"apache2", "-d", p.Dir, "-f", p.Dir + "/apache.conf", "-DFOREGROUND"}
			},
			cannot: map[form]string{
				ftpFile:      "mod_proxy_ftp is not measured",
				ftpDirectory: "mod_proxy_ftp is not measured",
			},
		},
		{
			name: "caddy", pkg: "caddy", files: config("Caddyfile"), secure: true,
			command: func(p place) []string {
				return []string{"caddy", "run", "--config", p.Dir + "/Caddyfile", "--adapter", "caddyfile"}
			},
			env: func(p place) []string {
				return []string{maxProcs(p), "XDG_CONFIG_HOME=" + p.Dir, "XDG_DATA_HOME=" + p.Dir}
			},
			cannot: map[form]string{
				forward: "the package has no forward proxy", download: noConnect, upload: noConnect,
				ftpFile: noFTP, ftpDirectory: noFTP,
			},
		},
	}
}

// maxProcs returns the environment variable that limits the processors of a Go program.
func maxProcs(p place) string { return fmt.Sprint("GOMAXPROCS=", p.Processors) }

// config returns the templates with these names in the folder config.
func config(names ...string) map[string]string {
	files := map[string]string{}
	for _, name := range names {
		text, err := configs.ReadFile("config/" + name)
		if err != nil {
			panic(err) // the file is embedded
		}
		files[name] = string(text)
	}
	return files
}

// why returns the reason if a peer has no result for a row, or "".
func (p peer) why(r row) string {
	switch {
	case p.cannot[r.form] != "":
		return p.cannot[r.form]
	case r.form == registered && !p.names:
		return "it has no registry"
	case r.link != plain && !p.secure:
		return "it is measured without TLS only"
	case (r.with != none || r.isEvent()) && !p.squid:
		return "only Squid and what takes its place are measured with it"
	}
	return ""
}

// write writes the configuration with its own certificate. The folder is accessible to the users to which
// servers switch.
func (p peer) write(at place) error {
	if err := os.Chmod(at.Dir, 0o777); err != nil { //nolint:gosec // empty, and removed at the end
		return err
	}
	for _, folder := range p.folders {
		name := filepath.Join(at.Dir, folder)
		if err := os.Mkdir(name, 0o700); err != nil {
			return err
		}
		if err := os.Chmod(name, 0o777); err != nil { //nolint:gosec // as above
			return err
		}
	}
	if p.secure {
		if err := writeCertificate(filepath.Join(at.Dir, "tls.pem")); err != nil {
			return fmt.Errorf("certificate of %s: %w", p.name, err)
		}
	}
	if p.with == hosts {
		if err := writeHosts(listFile(at.Dir)); err != nil {
			return err
		}
		hour := time.Now().Add(-time.Hour) // urnd would read a recently written list again
		if err := os.Chtimes(listFile(at.Dir), hour, hour); err != nil {
			return err
		}
	}
	for name, text := range p.files {
		if err := writeFile(filepath.Join(at.Dir, name), text, at); err != nil {
			return fmt.Errorf("configuration of %s: %w", p.name, err)
		}
	}
	return nil
}

func writeFile(name, text string, at place) error {
	t, err := template.New(filepath.Base(name)).Option("missingkey=error").Parse(text)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) //nolint:gosec // for servers that drop root
	if err != nil {
		return err
	}
	defer f.Close()
	return t.Execute(f, at)
}

// version returns the version of the package, or of urnd.
func (p peer) version(ctx context.Context) string {
	argv := []string{"dpkg-query", "-W", "-f", "${Version}", p.pkg}
	if p.pkg == "" {
		argv = []string{p.command(place{})[0], "version"}
	}
	output, err := exec.CommandContext(ctx, argv[0], argv[1:]...).Output() //nolint:gosec // names of peers
	if err != nil {
		return "of unknown version"
	}
	return strings.TrimPrefix(strings.TrimSpace(string(output)), p.name+" ")
}
