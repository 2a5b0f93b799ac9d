-- +goose Up
-- Sweeps of native coin that brought less than they asked for, because a replacement took its higher fee out of what it moved.
CREATE TABLE swept (payment_id BIGINT PRIMARY KEY REFERENCES payments (id), brought TEXT NOT NULL, created_at BIGINT NOT NULL);
