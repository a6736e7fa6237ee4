package promise

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// exits lists commands whose exit status is recorded. Standard input follows " < ".
const exits = `
access test 127.0.0.1 GET http://promise.example/
access test 127.0.0.1 GET http://denied.example/
access test nobody GET http://promise.example/
access test 127.0.0.1 GET
cache show --admin http://127.0.0.1:1 urn:promise:a1
cache show --admin ADMIN urn:promise:none
cache stats --admin ADMIN
cache purge --admin ADMIN urn:promise:none
cache purge --admin ADMIN
completion bash
completion tcsh
config check DIR/urnd.yaml
config check DIR/invalid.yaml
config check DIR/none.yaml
config show --config DIR/invalid.yaml
config example
config schema
config nothing
helper store-id < http://promise.example/
helper url-rewrite < http://promise.example/
namespaces
namespaces show isbn
namespaces show none
nothing
resolve urn:promise:a1
resolve urn:promise:none
resolve urn:promise:%zz
resolve
resolve - < urn:promise:none
registry nothing
registry backup DIR/backup.db
registry backup DIR/backup.db
registry backup DIR/none/backup.db
registry changes --set 1
registry changes --set 1 --output json
registry changes --set 999
registry check
registry diff sqlite:DIR/registry.db sqlite:DIR/registry.db
registry diff sqlite:DIR/registry.db DIR/names.csv
registry diff sqlite:DIR/registry.db DIR/none.csv
registry export --format nginx-map
registry export --format unknown
registry get urn:promise:a1
registry get urn:promise:none
registry get urn:promise:%zz
registry head
registry health
registry history urn:promise:a1
registry history urn:promise:none
registry import --dry-run DIR/names.csv
registry import --dry-run DIR/bad.csv
registry import DIR/none.csv
registry mint --dry-run urn:promise:x{counter}
registry mint --dry-run urn:promise:x
registry purge --dry-run urn:promise:
registry purge urn:promise:
registry redact urn:promise:a1
registry restore DIR/none.db
registry revert 999 --note a
registry rewrite urn:promise: --dry-run --replace https://promise.example/ --with https://promise.example/new/
registry rewrite urn:promise: --dry-run --replace https://none.example/ --with https://promise.example/new/
registry search
registry search --below urn:promise:none
registry set urn:promise:f1 https://promise.example/f1
registry set urn:promise:f1 https://promise.example/f2 --if-version 9
registry set urn:promise:f1 not-a-uri
registry stats
registry supersede urn:promise:f1
registry test - < urn:promise:f1,https://promise.example/f1
registry test - < urn:promise:f1,https://promise.example/other
registry token create --name a --role reader
registry token create --name a --role nobody
registry token list
registry token revoke none
registry verify
registry verify DIR/backup.db
registry verify DIR/names.csv
registry verify DIR/none.db
registry withdraw urn:promise:f1 --reason a
registry withdraw urn:promise:none --reason a
serve --config DIR/invalid.yaml
serve --config DIR/none.yaml
serve nothing
status ADMIN
status http://127.0.0.1:1
uri parse urn:example:a
uri parse %
uri normalize - < %
uri compare urn:example:a URN:example:a
uri compare urn:example:a urn:example:b
uri compare urn:example:a
uri key urn:example:a
uri join http://promise.example/a b
uri join a b
uri extract < http://promise.example/
uri display http://promise.example/
uri encode http://promise.example/
version
`

// gatherExits runs these commands, and every command with an unknown flag.
func gatherExits(t *testing.T, p *program) (lines []string) {
	directory := p.daemon.directory
	write(t, filepath.Join(directory, "invalid.yaml"), "nothing: 1\n")
	write(t, filepath.Join(directory, "bad.csv"), "name,target\nurn:promise:bad,ftp:/broken\n")
	fill := strings.NewReplacer("DIR", directory, "ADMIN", p.daemon.admin)
	environment := []string{"URND_CONFIG=" + filepath.Join(directory, "urnd.yaml")}
	for line := range strings.Lines(strings.TrimSpace(exits)) {
		line = strings.TrimSpace(line)
		args, stdin, _ := strings.Cut(line, " < ")
		r := p.pipe(t, stdin+"\n", environment, strings.Fields(fill.Replace(args))...)
		lines = append(lines, fmt.Sprintf("urnd %s => %d", line, r.status))
	}
	for _, c := range p.commands {
		args := append(c.path[:len(c.path):len(c.path)], "--no-such-flag")
		lines = append(lines, fmt.Sprintf("urnd %s => %d", strings.Join(args, " "), p.run(t, nil, args...).status))
	}
	return lines
}
