package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/yannh/kubeconform/pkg/validator"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// schemas writes the JSON schemas of Kubernetes 1.21, which are part of kyaml, in the layout of kubeconform,
// and returns their directory: one schema per kind, without additional properties.
var schemas = sync.OnceValues(func() (string, error) {
	var all struct {
		Definitions map[string]map[string]any `json:"definitions"`
	}
	text, err := json.Marshal(openapi.Schema())
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	dir := filepath.Join(os.Getenv(directoryVariable), "schemas")
	if err = errors.Join(err, os.MkdirAll(dir, 0o700)); err != nil {
		return "", err
	}
	for _, definition := range all.Definitions {
		widen(definition)
	}
	all.Definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"]["type"] = []string{"string", "number"}
	for _, definition := range all.Definitions {
		kinds, _ := definition["x-kubernetes-group-version-kind"].([]any)
		if len(kinds) != 1 {
			continue // part of other schemas, or common to all groups
		}
		kind, _ := kinds[0].(map[string]any)
		group, _, _ := strings.Cut(fmt.Sprint(kind["group"]), ".")
		name := strings.ToLower(fmt.Sprintf("%s-%s-%s.json", kind["kind"], group, kind["version"]))
		schema := maps.Clone(definition)
		schema["definitions"] = all.Definitions
		text, err := json.Marshal(schema)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, strings.Replace(name, "--", "-", 1)), text, 0o600)
		}
		if err != nil {
			return "", err
		}
	}
	return dir, nil
})

// widen converts a schema of OpenAPI 2 to JSON Schema: int-or-string has both types, and objects have no
// additional properties.
func widen(schema map[string]any) {
	if schema["format"] == "int-or-string" {
		schema["type"] = []string{"string", "integer"}
	}
	if _, hasMembers := schema["properties"]; hasMembers && schema["additionalProperties"] == nil {
		schema["additionalProperties"] = false
	}
	for _, inner := range schema {
		if inner, ok := inner.(map[string]any); ok {
			widen(inner)
		}
	}
}

// unlike returns the errors of kubeconform for objects in YAML. Objects that are newer than its schemas, or not
// part of Kubernetes, are only checked by their Go types.
func unlike(t *testing.T, text []byte) (found []error) {
	t.Helper()
	dir, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	v, err := validator.New([]string{filepath.Join(dir, "{{ .ResourceKind }}{{ .KindSuffix }}.json")}, validator.Opts{
		Strict: true, SkipKinds: map[string]struct{}{
			"autoscaling/v2/HorizontalPodAutoscaler": {},
			"ServiceMonitor":                         {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range v.Validate("objects", io.NopCloser(bytes.NewReader(text))) {
		if result.Err != nil {
			found = append(found, result.Err)
		}
	}
	return found
}

// accepted returns checks of kube-score that the manifests fail intentionally, with the reason.
func accepted() map[string]string {
	return map[string]string{
		"container-image-pull-policy":         "a version is one image: what a node has need not be fetched again",
		"deployment-has-host-podantiaffinity": "topologySpreadConstraints spread the pods",
	}
}

// doubtful returns the warnings of kube-score, a tool in a separate module, for objects in YAML.
func doubtful(t *testing.T, text []byte) (found []string) {
	t.Helper()
	ignored := slices.Sorted(maps.Keys(accepted()))
	command := exec.Command(
		"go", "tool", "-modfile="+root+"/internal/tools/deploy/go.mod", "kube-score", "score", "--kubernetes-version",
		"v1.25",
		"--ignore-container-cpu-limit", // it would delay responses
		"--ignore-test", strings.Join(ignored, ","), "--output-format", "ci", "-",
	)
	command.Stdin = bytes.NewReader(text)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, _ := command.CombinedOutput() // an error indicates warnings
	judged := false
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "[OK]") || strings.HasPrefix(line, "[SKIPPED]") {
			judged = true
			continue
		}
		if strings.HasPrefix(line, "go: downloading ") { // of the tool itself, once
			continue
		}
		found = append(found, line)
	}
	if !judged {
		t.Errorf("kube-score judges nothing:\n%s", out)
	}
	return found
}

// lint runs both linters.
func (o *objects) lint(t *testing.T) {
	t.Helper()
	for _, err := range unlike(t, o.text) {
		t.Error(err)
	}
	for _, line := range doubtful(t, o.text) {
		t.Error(line)
	}
}

// TestLint checks that both linters find errors.
func TestLint(t *testing.T) {
	const wrong = `apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replica: 3
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: a:latest}]}
`
	if found := fmt.Sprint(unlike(t, []byte(wrong))); !strings.Contains(found, "replica") {
		t.Errorf("kubeconform finds %s", found)
	}
	if found := strings.Join(doubtful(t, []byte(wrong)), ""); !strings.Contains(found,
		"[CRITICAL] a apps/v1/Deployment") {
		t.Errorf("kube-score finds %s", found)
	}
}
