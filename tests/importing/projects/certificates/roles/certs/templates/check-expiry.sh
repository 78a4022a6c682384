#!/bin/sh
# {{ ansible_managed }}
for crt in {{ certs_dir }}/certs/*.crt; do
    openssl x509 -checkend {{ 7 * 24 * 3600 }} -noout -in "$crt" || exit 1
done
