package doctor

import (
	"fmt"
	"io/fs"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-kinetic/kinetic/manifests/rbac"
)

// userRole is the Role of people who run jobs.
const userRole = "kinetic-user"

type wanted struct {
	roles   []rbacv1.Role
	account corev1.ServiceAccount
}

// readWanted reads manifests/rbac. It adds the label that the kustomization there adds.
func readWanted() (wanted, error) {
	var w wanted
	labels := map[string]string{"app.kubernetes.io/name": "kinetic"}
	for _, name := range []string{"cleanup", "release", "shell", "user"} {
		var role rbacv1.Role
		if err := read(name, &role); err != nil {
			return w, err
		}
		role.Labels = labels
		w.roles = append(w.roles, role)
	}
	err := read("serviceaccount", &w.account)
	w.account.Labels = labels
	return w, err
}

func read(name string, into any) error {
	text, err := fs.ReadFile(rbac.FS, name+".yaml")
	if err == nil {
		err = yaml.UnmarshalStrict(text, into)
	}
	if err != nil {
		return fmt.Errorf("reading manifests/rbac/%s.yaml: %w", name, err)
	}
	return nil
}

// userRole returns the Role of people who run jobs.
func (w wanted) userRole() rbacv1.Role {
	at := slices.IndexFunc(w.roles, func(r rbacv1.Role) bool { return r.Name == userRole })
	if at < 0 {
		return rbacv1.Role{}
	}
	return w.roles[at]
}
