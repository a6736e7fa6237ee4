package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

const kubernetes = root + "/deploy/kubernetes/"

// kustomize returns the objects that "kubectl apply -k" sends, with additional resources.
func kustomize(t *testing.T, more ...string) *objects {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(kubernetes)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "kustomization.yaml")
	text := read(t, path)
	for _, name := range more {
		line := "  # - " + name
		if !strings.Contains(text, line) {
			t.Fatalf("kustomization.yaml does not have %q", line)
		}
		text = strings.Replace(text, line, "  - "+name, 1)
	}
	write(t, path, text)
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	out, err := made.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	var o objects
	o.decode(t, "kustomization.yaml", out)
	return &o
}

// TestKubernetes checks that the manifests run an unprivileged urnd, and that the other objects refer to it.
func TestKubernetes(t *testing.T) {
	o := kustomize(t, "servicemonitor.yaml")
	o.checkPods(t)
	o.checkConfiguration(t)
	o.checkAround(t)
	o.checkConnections(t, 97) // three of 100 are reserved for the superuser
	o.lint(t)
	if len(o.budgets) != 1 || len(o.scalers) != 1 || len(o.policies) != 1 || len(o.monitors) != 1 ||
		len(o.services) != 2 || len(o.namespaces) != 1 {
		t.Errorf("objects are missing: %+v", o)
	}
	if o.namespaces[0].Name != o.deployment(t).Namespace ||
		o.namespaces[0].Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Errorf("the namespace is %+v", o.namespaces[0])
	}
	if image := o.container(t).Image; !strings.HasSuffix(image, ":"+version(t)) {
		t.Errorf("the image is %s, not of %s", image, version(t))
	}
	if len(kustomize(t).monitors) != 0 {
		t.Error("a ServiceMonitor is applied where no operator of Prometheus need be")
	}
}

// TestKubernetesFiles checks that each file is a valid manifest and in the kustomization, except for those that
// declare not to be.
func TestKubernetesFiles(t *testing.T) {
	files, err := filepath.Glob(kubernetes + "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	list := read(t, kubernetes+"kustomization.yaml")
	for _, file := range files {
		name := filepath.Base(file)
		if slices.Contains([]string{"kustomization.yaml", "urnd.yaml"}, name) {
			continue
		}
		var o objects
		o.decode(t, name, []byte(read(t, file)))
		if name != "secret.example.yaml" && !strings.Contains(list, "- "+name+"\n") {
			t.Errorf("%s is not in the kustomization", name)
		}
	}
}
