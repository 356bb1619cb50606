package doctor

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-kinetic/kinetic/pkg/cluster/infra"
)

// userRole is the Role of people who run jobs.
const userRole = "kinetic-user"

type wanted struct {
	roles   []rbacv1.Role
	account corev1.ServiceAccount
}

// readWanted reads manifests/rbac.
func readWanted() (w wanted, err error) {
	if w.roles, err = infra.RBAC[rbacv1.Role]("Role"); err != nil {
		return w, err
	}
	accounts, err := infra.RBAC[corev1.ServiceAccount]("ServiceAccount")
	if err != nil {
		return w, err
	}
	if len(accounts) != 1 {
		return w, fmt.Errorf("manifests/rbac has %d service accounts instead of one", len(accounts))
	}
	w.account = accounts[0]
	return w, nil
}

// userRole returns the Role of people who run jobs.
func (w wanted) userRole() rbacv1.Role {
	at := slices.IndexFunc(w.roles, func(r rbacv1.Role) bool { return r.Name == userRole })
	if at < 0 {
		return rbacv1.Role{}
	}
	return w.roles[at]
}
