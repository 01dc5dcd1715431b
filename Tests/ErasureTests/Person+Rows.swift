import Foundation
import WireFormat

/// What a person has made, with its objects in the blob store.
struct PersonObjects {
    let session: UUID
    let job: UUID
    /// A photo that is shown, and one that waits for its thumbnail.
    let photo, waitingPhoto: UUID
    /// The sessions of others with the e-mail: a sign-up without proof, and a failed sign-in; none after the account has lost it.
    var othersSessions: [UUID] = []

    init(of person: inout Person) {
        session = person.thing()
        (job, photo, waitingPhoto) = (person.ownThing(), person.ownThing(), person.ownThing())
    }
}

extension Person {
    /// The rows of an account before its erasure, of which there is one each.
    mutating func account() -> String {
        """
        INSERT INTO users (id, email_sealed, subject_sealed, display_name_sealed) VALUES ('\(id)', \(bytes()), \(bytes()), \(bytes()));
        INSERT INTO email_lookups (lookup, user_id) VALUES (\(Self.literal(emailLookup)), '\(id)');
        INSERT INTO face_templates (user_id, model_id, pipeline_version, template_sealed) VALUES ('\(id)', 'm', 1, \(bytes()));
        """
    }

    /// What was stored under the e-mail, by people who had not proven it: no row of these names the account.
    mutating func proofs(of objects: PersonObjects, other: UUID) -> String {
        let (proof, email) = (thing(), Self.literal(emailLookup))
        return """
            INSERT INTO email_verifications (id, purpose, account_id, email_lookups, email_sealed, reference)
            VALUES ('\(proof)', 'registration', '\(thing())', ARRAY[\(email)], \(bytes()), 'BCDF');
            INSERT INTO code_mails (id, email_lookups, is_proven, due_at) VALUES ('\(thing())', ARRAY[\(email)], false, now());
            INSERT INTO pending_enrolments (id, user_id, model_id, pipeline_version, template_sealed, file_hashes, pixel_hashes, signatures)
            VALUES ('\(proof)', '\(thing())', 'm', 1, \(bytes()), ARRAY[\(bytes())], ARRAY[\(bytes())], ARRAY[\(bytes())]);
            INSERT INTO email_verifications (id, purpose, account_id, email_lookups, email_sealed, former_email_lookups,
                                             former_email_sealed, reference)
            VALUES ('\(thing())', 'email_change', '\(other)', ARRAY['\\x01'::bytea], '\\x02', ARRAY[\(email)], \(bytes()), 'BCDF');
            INSERT INTO sessions (id, user_id, event, token_hash, email_lookups, email_sealed)
            VALUES ('\(objects.othersSessions[0])', '\(thing())', 'sign_up', \(bytes()), ARRAY[\(email)], \(bytes()));
            INSERT INTO sessions (id, user_id, event, state, reason, retryable, completed_at, token_hash, attempt_key)
            VALUES ('\(objects.othersSessions[1])', '\(attemptKey)', 'sign_in', 'failed', 'no_match', true, now(), \(bytes()),
                    '\(attemptKey)');
            INSERT INTO face_photo_hashes (user_id, file_hash, pixel_hash, is_accepted)
            VALUES ('\(attemptKey)', \(bytes()), \(bytes()), false);
            INSERT INTO idempotency_keys (user_id, route, key, owner, locked_until, expires_at)
            VALUES ('\(attemptKey)', 'sign_in', 'k', '\(thing())', now(), now());
            """
    }

    /// Rows in every other table that names a person, as often as wanted. No push is being sent, and no worker holds a job.
    ///
    /// - Parameters:
    ///   - objects: The things that rows are about.
    ///   - other: A user with whom the person has to do.
    mutating func belongings(_ objects: PersonObjects, other: UUID) -> String {
        let installation = bytes()
        return [
            signIns(objects.session, installation, other), pictures(objects.job), topics(objects, installation, other),
            pushes(installation, other), records(other),
        ].joined(separator: "\n")
    }

    private mutating func signIns(_ session: UUID, _ installation: String, _ other: UUID) -> String {
        let (install, address, key) = (thing(), lookup(), bytes())
        return """
            INSERT INTO identities (issuer, subject_lookup, user_id) VALUES ('https://issuer', \(lookup()), '\(id)');
            INSERT INTO access_tokens (id, user_id, session_id, family_id, access_hash, refresh_hash, installation_key, device_key,
                                       device_key_storage, expires_at, refresh_expires_at)
            VALUES ('\(thing())', '\(id)', '\(session)', '\(thing())', \(bytes()), \(bytes()), \(installation), \(key), 'hardware',
                    now(), now());
            INSERT INTO push_installs (id, installation_key, kind, value_sealed, value_hash)
            VALUES ('\(install)', \(installation), 'token', \(bytes()), \(bytes()));
            INSERT INTO sessions (id, user_id, event, state, completed_at, token_hash, attempt_key, other_attempt_keys, install_id,
                                  installation_key, device_key, address_key, site_key)
            VALUES ('\(session)', '\(id)', 'sign_in', 'succeeded', now(), \(bytes()), '\(attemptKey)', ARRAY['\(attemptKey)'::uuid],
                    '\(install)', \(installation), \(key), \(bytes()), \(bytes()));
            INSERT INTO face_photo_hashes (user_id, file_hash, pixel_hash, is_accepted) VALUES ('\(id)', \(bytes()), \(bytes()), true);
            INSERT INTO face_duplicates (user_id, other_id) VALUES ('\(id)', '\(thing())'), ('\(thing())', '\(id)');
            INSERT INTO email_verifications (id, purpose, account_id, email_lookups, email_sealed, display_name_sealed, address_key,
                                             site_key, reference, verified_at, token_hash)
            VALUES ('\(thing())', 'email_change', '\(id)', ARRAY[\(address)], \(bytes()), \(bytes()), \(bytes()), \(bytes()), 'BCDF',
                    now(), \(bytes()));
            INSERT INTO code_mails (id, email_lookups, site_key, is_proven, due_at)
            VALUES ('\(thing())', ARRAY[\(address)], \(bytes()), true, now());
            INSERT INTO pending_enrolments (id, user_id, model_id, pipeline_version, template_sealed, file_hashes, pixel_hashes, signatures,
                                            email_lookups, due_at)
            VALUES ('\(thing())', '\(id)', 'm', 1, \(bytes()), ARRAY[\(bytes())], ARRAY[\(bytes())], ARRAY[\(bytes())],
                    ARRAY[\(lookup())], now());
            INSERT INTO install_hand_overs (id, installation_key, user_id, former_user_id, nonce_hash, is_held_value, expires_at)
            VALUES ('\(thing())', \(installation), '\(id)', '\(other)', \(bytes()), true, now()),
                   ('\(thing())', \(installation), '\(other)', '\(id)', \(bytes()), true, now());
            """
    }

    private mutating func pictures(_ job: UUID) -> String {
        let folder = "images/\(job.wireString)"
        return """
            INSERT INTO image_jobs (id, user_id, template_id, template_name, status, percent, input_key, original_width, original_height,
                                    result_key, result_format, result_bytes, result_width, result_height, thumbnail_key, model_used,
                                    started_at, completed_at)
            SELECT '\(job)', '\(id)', id, name, 'completed', 100, '\(folder)/input', 9, 9, '\(folder)/result.jpg', 'jpeg', 9, 9, 9,
                   '\(folder)/thumbnail.jpg', 'm', now(), now() FROM image_templates LIMIT 1;
            INSERT INTO image_attempts (job_id, number, generator, outcome, raw_key, model_used, finished_at)
            VALUES ('\(job)', 1, 'local', 'generated', '\(folder)/raw', 'm', now());
            INSERT INTO image_job_reads (job_id, trigger) VALUES ('\(job)', 'push');
            INSERT INTO image_calls (day, user_id, calls)
            VALUES ('2000-01-01'::date + ('x' || left('\(job)', 4))::bit(16)::integer, '\(id)', 1);
            INSERT INTO image_costs (user_id, minute, cost_ms) VALUES ('\(id)', now(), 1);
            """
    }

    private mutating func topics(_ objects: PersonObjects, _ installation: String, _ other: UUID) -> String {
        let photo = objects.photo
        let (own, shared, joined) = (thing(), thing(), thing())
        return """
            INSERT INTO topics (id, name, owner_id, member_count)
            VALUES ('\(own)', 'event:\(own)', '\(id)', 1), ('\(shared)', 'event:\(shared)', '\(id)', 2),
                   ('\(joined)', 'conversation:\(joined)', '\(other)', 2);
            INSERT INTO topic_members (topic_id, user_id)
            VALUES ('\(own)', '\(id)'), ('\(shared)', '\(id)'), ('\(shared)', '\(other)'), ('\(joined)', '\(id)'),
                   ('\(joined)', '\(other)');
            INSERT INTO topic_leavers (topic_id, user_id) VALUES ('\(joined)', '\(id)');
            INSERT INTO topic_invitations (topic_id, user_id, inviter_id, is_announced, expires_at)
            VALUES ('\(joined)', '\(id)', '\(other)', false, now()), ('\(joined)', '\(other)', '\(id)', false, now());
            INSERT INTO topic_invitation_log (inviter_id, user_id, is_announced)
            VALUES ('\(id)', '\(other)', false), ('\(other)', '\(id)', false);
            INSERT INTO conversation_messages (topic_id, message_id, seq, sender_id, notification_id, fingerprint)
            VALUES ('\(joined)', 'm', 1, '\(id)', '\(thing())', \(bytes()));
            INSERT INTO push_presence (installation_key, user_id, topic_id, lease_until)
            VALUES (\(installation), '\(id)', '\(joined)', now()), (\(bytes()), '\(id)', '\(joined)', now());
            INSERT INTO topic_photos (id, topic_id, uploader_id, state, photo_key, thumbnail_key, settled_at, expires_at)
            VALUES ('\(photo)', '\(shared)', '\(id)', 'ready', 'topics/\(photo.wireString)/photo',
                    'topics/\(photo.wireString)/thumbnail', now(), now());
            INSERT INTO topic_photos (id, topic_id, uploader_id, photo_key, expires_at)
            VALUES ('\(objects.waitingPhoto)', '\(joined)', '\(id)', 'topics/\(objects.waitingPhoto.wireString)/photo', now());
            INSERT INTO topic_photo_windows (topic_id, uploader_id, sender_id, thumbnail_key, due_at)
            VALUES ('\(shared)', NULL, '\(id)', 'topics/\(photo.wireString)/thumbnail', now()),
                   ('\(joined)', '\(id)', '\(other)', 'topics/\(photo.wireString)/thumbnail', now());
            """
    }

    private mutating func pushes(_ installation: String, _ other: UUID) -> String {
        let (install, mine, message) = (thing(), ownThing(), thing())
        // An installation without a sign-in, such as that of an order of a picture.
        let claimed = bytes()
        return """
            INSERT INTO push_installs (id, installation_key, kind, value_sealed, value_hash, user_id)
            VALUES ('\(install)', \(installation), 'token', \(bytes()), \(bytes()), '\(id)'),
                   ('\(thing())', \(claimed), 'token', \(bytes()), \(bytes()), '\(id)');
            INSERT INTO notifications (id, dedupe_key, kind, recipient_type, recipient_id, lane, content, sender_id, account_id, state,
                                       settled_at, expires_at)
            VALUES ('\(mine)', 'custom:\(mine.wireString)', 'custom', 'user', '\(name)', 'urgent', NULL, NULL, NULL, 'settled', now(),
                    now()),
                   ('\(thing())', '\(thing())', 'custom', 'user', '\(name)', 'urgent', \(bytes()), NULL, NULL, 'requested', NULL, now()),
                   ('\(message)', '\(message)', 'chat_message', 'user', '\(other.wireString)', 'urgent', \(bytes()), '\(id)', '\(id)',
                    'requested', NULL, now());
            INSERT INTO deliveries (id, notification_id, install_id, generation, lane, state, settled_at)
            VALUES ('\(thing())', '\(mine)', '\(install)', 1, 'urgent', 'accepted', now());
            INSERT INTO delivery_pages (id, notification_id, lane, first_user_id, last_user_id, install_ids, generations, accepted,
                                        detached, state)
            VALUES ('\(thing())', '\(mine)', 'bulk', '\(id)', '\(id)', ARRAY['\(install)'::uuid], ARRAY[1], B'1', B'0', 'settled'),
                   ('\(thing())', '\(thing())', 'bulk', '\(other)', '\(id)', ARRAY['\(install)'::uuid], ARRAY[1], B'1', B'0', 'settled');
            INSERT INTO notification_receipts (notification_id, reporter_id, event, user_id, at)
            VALUES ('\(mine)', '\(thing())', 'opened', '\(id)', now()), ('\(message)', '\(thing())', 'opened', '\(id)', now());
            INSERT INTO topic_fan_outs (notification_id, except_user_id, sender_id, after_user_id)
            VALUES ('\(message)', '\(id)', '\(id)', '\(id)');
            INSERT INTO app_notifications (id, app, credential_id, kind, fingerprint, state, user_ids, accepted, unknown, not_before,
                                           expires_at)
            VALUES ('\(thing())', 'app', '\(thing())', 'k', sha256('x'), 'requested', ARRAY['\(id)', '\(other)']::uuid[], 2, 0, now(),
                    now() + interval '1 hour');
            """
    }

    private mutating func records(_ other: UUID) -> String {
        """
        INSERT INTO audit_log (actor_kind, actor_id, action, result, subject_id, object_id, request_id, address_key)
        VALUES ('user', '\(name)', 'signed_in', 'succeeded', '\(id)', '\(thing())', 'r', \(bytes())),
               ('system', 'identity-api', 'signed_in', 'succeeded', '\(id)', NULL, NULL, \(bytes()));
        INSERT INTO user_blocks (user_id, blocked_id) VALUES ('\(id)', '\(other)'), ('\(other)', '\(id)') ON CONFLICT DO NOTHING;
        INSERT INTO user_contacts (user_id, contact_id) VALUES ('\(id)', '\(other)'), ('\(other)', '\(id)') ON CONFLICT DO NOTHING;
        INSERT INTO reports (id, reporter_id, subject_type, subject_id, sender_id, reason, text_sealed)
        VALUES ('\(thing())', '\(id)', 'topic', 'event:\(thing())', NULL, 'spam', \(bytes())),
               ('\(thing())', NULL, 'user', '\(name)', NULL, 'spam', NULL),
               ('\(thing())', '\(other)', 'message', 'event:\(thing())/m', '\(id)', 'spam', NULL);
        INSERT INTO consents (id, user_id, version, text_hash, given_at) VALUES ('\(thing())', '\(id)', 'v1', sha256('x'), now());
        INSERT INTO account_exports (id, user_id, lease_until) VALUES ('\(thing())', '\(id)', now());
        INSERT INTO idempotency_keys (user_id, route, key, owner, locked_until, expires_at, answered_at, fingerprint, resource_id,
                                      answer_status, answer)
        VALUES ('\(id)', 'images', '\(thing())', '\(thing())', now(), now(), now(), \(bytes()), '\(thing())', 202, '{}');
        INSERT INTO outbox (message_id, stream, key, type, version, occurred_at, body, state, settled_at)
        VALUES ('\(thing())', 's', '\(name)', 't', 1, now(), '{}', 'confirmed', now()),
               ('\(thing())', 's', 'k', 't', 1, now(), convert_to('{"user_id": "\(name)"}', 'UTF8'), 'confirmed', now());
        INSERT INTO dead_letters (stream, id, consumer_group, entry_id, reason, error, failures, crashes, consumer, fields)
        VALUES ('s', '\(thing())', 'g', '1-0', 'failures', 'refused', 16, 0, 'c', ARRAY['k', convert_to('\(name)', 'UTF8')]),
               ('s', '\(thing())', 'g', '1-1', 'failures', 'no user \(name)', 16, 0, 'c', ARRAY['b', '{}']::bytea[]);
        """
    }
}
