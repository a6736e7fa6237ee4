-- +goose Up
-- Versions have salts from here on, and a tree of hashes, whose root is written with each change (documents 12 to 14): a program
-- that does not know them would break the chain, and refuses this schema.
SELECT 1;
