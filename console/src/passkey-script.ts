// A script of its own, which is loaded when a passkey is used.
export { startAuthentication, startRegistration } from '@simplewebauthn/browser'
