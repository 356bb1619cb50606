#!/usr/bin/env bash
# Makes the cluster's keys: one authority, one administrator as whom every component
# and the user of the cluster acts, and what the servers show. Once for each cluster.
set -euo pipefail
source "$(dirname "$0")/box.sh"
[[ -e $KUBECONFIG ]] && exit

mkdir -p "$KUBEBOX_DIR/pki"
cd "$KUBEBOX_DIR/pki"

new_key() { openssl ecparam -name prime256v1 -genkey -noout; }

sign() { # NAME SUBJECT ALTERNATIVE-NAMES
	new_key >"$1.key"
	openssl req -new -key "$1.key" -subj "$2" |
		openssl x509 -req -CA ca.crt -CAkey ca.key -set_serial "0x$(openssl rand -hex 8)" -days 3650 -out "$1.crt" \
			-extfile <(printf 'basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth,clientAuth\nsubjectAltName=%s\n' "$3") 2>/dev/null
}

new_key >ca.key
openssl req -x509 -new -key ca.key -days 3650 -subj /CN=kubebox -out ca.crt
sign apiserver /CN=kube-apiserver "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:localhost,IP:${api%:*},IP:$api_for_pods"
sign admin /O=system:masters/CN=admin DNS:admin
sign webhook /CN=webhook IP:127.0.0.1
for i in "${!nodes[@]}"; do
	sign "${nodes[i]}" "/O=system:nodes/CN=system:node:${nodes[i]}" "DNS:${nodes[i]},IP:$(address_of "$i")"
done
# Service account tokens; Kubernetes reads this one in PKCS #8 only.
new_key | openssl pkcs8 -topk8 -nocrypt -out tokens.key
openssl ec -in tokens.key -pubout -out tokens.pub 2>/dev/null

cat >"$KUBECONFIG" <<YAML
apiVersion: v1
kind: Config
clusters:
- name: kubebox
  cluster: {server: "https://$api", certificate-authority-data: $(base64 -w0 ca.crt)}
users:
- name: admin
  user: {client-certificate-data: $(base64 -w0 admin.crt), client-key-data: $(base64 -w0 admin.key)}
contexts:
- name: kubebox
  context: {cluster: kubebox, user: admin}
current-context: kubebox
YAML
